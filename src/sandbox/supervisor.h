// A small process of ours between us and the guest, in every mode: orphans of the guest become its children, it ends
// them all when the guest ends, when we say so or when we die, and it reports once nothing is left.
#pragma once

#include <sys/types.h>
#include <cstdint>

#include "sandbox/bpf.h"
#include "sandbox/child.h"
#include "sandbox/fd.h"

namespace kw::sandbox {

// What the supervisor starts. Pointers and descriptors must outlive start_supervisor only.
struct Guest {
  ChildSetup setup;
  Words argv;                          // argv[0] is a full path
  Words environment;                   // the whole of it
  std::string folder;                  // empty: left where it is
  int landlock_ruleset = -1;           // -1: none
  const BpfProgram* filter = nullptr;  // laid around it before exec
  bool filter_may_fail = false;        // carry on without the filter where the kernel refuses it
};

struct Ending {
  int status = 0;                       // of the guest, as waitpid gives it
  bool by_us = false;                   // it had not ended by itself
  std::uint64_t guest_peak_bytes = 0;   // resident; counts our own size too, since the guest began as our copy
  std::uint64_t orphan_peak_bytes = 0;  // of the largest process that outlived its parent
};

class Supervisor {
 public:
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] pid_t guest() const { return guest_; }
  // Readable when everything has ended.
  [[nodiscard]] int ended_fd() const { return pidfd_.get(); }
  // Kills what is left and returns when every process is gone. Call once.
  Result<Ending> end();

 private:
  friend Result<Supervisor> start_supervisor(Guest& guest, Clock::time_point until);
  pid_t pid_ = 0, guest_ = 0;
  Fd pidfd_, lifeline_, report_;
};

Result<Supervisor> start_supervisor(Guest& guest, Clock::time_point until);

}  // namespace kw::sandbox
