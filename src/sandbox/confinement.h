// The seccomp filter around a whole program: a deny-list over what namespaces or Landlock leave open. Denied calls fail
// with EPERM, so that compilers can carry on. The allow-lists for a loaded kernel are in seccomp_filter.h.
#pragma once

#include "sandbox/bpf.h"

namespace kw::sandbox {

struct Confinement {
  bool no_processes = false;  // threads, but no children
  bool shared_host = false;   // no namespaces: also keep it from other processes' ids, groups, priorities and files' attributes
  bool no_signals = false;    // a Landlock that can't keep signals inside
  auto operator<=>(const Confinement&) const = default;
};

// Built once per process for each value.
Result<const BpfProgram*> confinement_filter(const Confinement& confinement);

}  // namespace kw::sandbox
