#include "sandbox/bpf.h"

#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "sandbox/fd.h"

namespace kw::sandbox {

static_assert(this_thread_filter == SECCOMP_FILTER_FLAG_SPEC_ALLOW);
static_assert(all_threads_filter == (SECCOMP_FILTER_FLAG_SPEC_ALLOW | SECCOMP_FILTER_FLAG_TSYNC));

BpfBuilder::BpfBuilder(std::uint32_t default_action) : context_(seccomp_init(default_action), seccomp_release) {
  if (!context_) {
    error_ = "libseccomp could not be initialised";
    return;
  }
  // Calls of another architecture's numbering (32-bit, x32) would slip past every rule.
  seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);
}

void BpfBuilder::rule(std::uint32_t action, const char* syscall, std::vector<scmp_arg_cmp> comparisons) {
  if (!error_.empty()) return;
  const int number = seccomp_syscall_resolve_name(syscall);
  if (number < 0) return;  // unknown, or one of another architecture
  const int result =
      seccomp_rule_add_array(context_.get(), action, number, static_cast<unsigned>(comparisons.size()), comparisons.data());
  if (result < 0) error_ = fmt::format("seccomp rule for {}: {}", syscall, std::strerror(-result));
}

void BpfBuilder::rules(std::uint32_t action, std::initializer_list<const char*> syscalls) {
  for (const char* syscall : syscalls) rule(action, syscall);
}

Result<BpfProgram> BpfBuilder::build() {
  if (!error_.empty()) return internal_error(error_);
  const Fd file(::memfd_create("kw-bpf", MFD_CLOEXEC));
  if (!file) return internal_error(fmt::format("memfd_create: {}", std::strerror(errno)));
  if (const int result = seccomp_export_bpf(context_.get(), file.get()); result < 0)
    return internal_error(fmt::format("cannot export the seccomp filter: {}", std::strerror(-result)));
  const off_t size = ::lseek(file.get(), 0, SEEK_END);
  BpfProgram program(static_cast<std::size_t>(size) / sizeof(sock_filter));
  if (::pread(file.get(), program.data(), static_cast<std::size_t>(size), 0) != size)
    return internal_error(fmt::format("cannot read the seccomp filter back: {}", std::strerror(errno)));
  return program;
}

scmp_arg_cmp is(unsigned argument, std::uint64_t value) { return {argument, SCMP_CMP_EQ, value, 0}; }
scmp_arg_cmp bits(unsigned argument, std::uint64_t mask, std::uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

bool install(const BpfProgram& program, unsigned flags) {
  const sock_fprog description{static_cast<unsigned short>(program.size()), const_cast<sock_filter*>(program.data())};
  const long result = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &description);
  if (result > 0) errno = EBUSY;  // a thread that could not be brought under the filter
  return result == 0;
}

}  // namespace kw::sandbox
