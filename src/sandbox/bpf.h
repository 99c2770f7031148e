// Seccomp programs: written by syscall name through libseccomp, installed by hand, because a forked child must not
// allocate and because libseccomp's own installer makes calls that an earlier filter may forbid.
#pragma once

#include <linux/filter.h>
#include <seccomp.h>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kw::sandbox {

using BpfProgram = std::vector<sock_filter>;

class BpfBuilder {
 public:
  explicit BpfBuilder(std::uint32_t default_action);
  // All comparisons must hold; several rules for one call are alternatives. A name that this architecture or this
  // libseccomp doesn't have is left out.
  void rule(std::uint32_t action, const char* syscall, std::vector<scmp_arg_cmp> comparisons = {});
  void rules(std::uint32_t action, std::initializer_list<const char*> syscalls);
  // The first error of any rule shows here.
  Result<BpfProgram> build();

 private:
  std::unique_ptr<void, void (*)(void*)> context_;
  std::string error_;
};

// "argument n is value", "the bits of argument n under mask are value".
scmp_arg_cmp is(unsigned argument, std::uint64_t value);
scmp_arg_cmp bits(unsigned argument, std::uint64_t mask, std::uint64_t value);

// The flags of every filter here, and no others are allowed later: without SPEC_ALLOW some kernels slow down all
// loads of a filtered process, which would show in its timings.
inline constexpr unsigned this_thread_filter = 1U << 2;                // SECCOMP_FILTER_FLAG_SPEC_ALLOW
inline constexpr unsigned all_threads_filter = (1U << 2) | (1U << 0);  // ... | SECCOMP_FILTER_FLAG_TSYNC

// Safe in a forked child. False with errno set. no_new_privs must be set already.
[[nodiscard]] bool install(const BpfProgram& program, unsigned flags);

}  // namespace kw::sandbox
