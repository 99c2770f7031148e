#include "sandbox/seccomp_filter.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fmt/format.h>

#include "sandbox/bpf.h"

namespace kw::sandbox {
namespace {

constexpr std::uint32_t allow = SCMP_ACT_ALLOW;

// Memory, locks, clocks and questions about oneself: harmless at any time.
void allow_computing(BpfBuilder& filter, const FilterOptions& options) {
  filter.rules(allow, {"brk",
                       "munmap",
                       "madvise",
                       "futex",
                       "sched_yield",
                       "clock_gettime",
                       "clock_getres",
                       "gettimeofday",
                       "time",
                       "getrandom",
                       "rseq",
                       "set_robust_list",
                       "getcpu",
                       "sysinfo",
                       "sched_getaffinity",
                       "getpid",
                       "gettid",
                       "getppid",
                       "getuid",
                       "geteuid",
                       "getgid",
                       "getegid",
                       "getrlimit",
                       "getrusage",
                       "times",
                       "uname",
                       "rt_sigprocmask",
                       "rt_sigreturn",
                       "restart_syscall",
                       "exit",
                       "exit_group",
                       "poll",
                       "ppoll"});
  filter.rule(allow, "prlimit64", {is(0, 0), is(2, 0)});  // asking, not setting
  // Tile registers (AMX) have to be asked for: ARCH_GET_XCOMP_SUPP, ARCH_GET_XCOMP_PERM, ARCH_REQ_XCOMP_PERM.
  for (const unsigned code : {0x1021U, 0x1022U, 0x1023U}) filter.rule(allow, "arch_prctl", {is(0, code)});
  // abort(): its own signal to itself.
  filter.rule(allow, "tgkill", {is(0, static_cast<std::uint64_t>(::getpid()))});
  filter.rule(allow, "rt_sigaction", {is(0, SIGABRT)});
  // realloc() copies instead when this fails, and nothing can be moved over another mapping.
  filter.rule(SCMP_ACT_ERRNO(ENOMEM), "mremap");
  if (options.threads) {
    filter.rule(allow, "clone", {bits(0, CLONE_THREAD | CLONE_VM, CLONE_THREAD | CLONE_VM)});
    filter.rule(SCMP_ACT_ERRNO(ENOSYS), "clone3");  // its flags lie in memory; without it libc uses clone
  }
}

void allow_talking(BpfBuilder& filter, const FilterOptions& options) {
  const auto control = static_cast<std::uint64_t>(options.control_fd);
  for (const std::uint64_t fd : {std::uint64_t{1}, std::uint64_t{2}, control}) {
    filter.rule(allow, "write", {is(0, fd)});
    filter.rule(allow, "writev", {is(0, fd)});
  }
  for (const char* call : {"sendmsg", "sendto", "recvmsg", "recvfrom"}) filter.rule(allow, call, {is(0, control)});
  // printf and dprintf look at their descriptor first.
  filter.rules(allow, {"fstat", "lseek", "close"});
  filter.rule(allow, "newfstatat", {bits(3, AT_EMPTY_PATH, AT_EMPTY_PATH)});
  filter.rule(allow, "ioctl", {is(0, 1), is(1, TCGETS)});
  filter.rule(allow, "ioctl", {is(0, 2), is(1, TCGETS)});
}

// What NVIDIA's driver does in the process: device nodes opened, driven and mapped where it wants them, its own descriptors,
// threads and memory policies. No new processes, no sockets, no signals, and nothing writable that is executable.
void allow_driving(BpfBuilder& filter, const FilterOptions& options) {
  filter.rules(allow, {"open",
                       "openat",
                       "read",
                       "readv",
                       "pread64",
                       "write",
                       "writev",
                       "ioctl",
                       "stat",
                       "lstat",
                       "newfstatat",
                       "statx",
                       "statfs",
                       "fstatfs",
                       "access",
                       "faccessat",
                       "faccessat2",
                       "readlink",
                       "readlinkat",
                       "getcwd",
                       "getdents64",
                       "fcntl",
                       "dup",
                       "dup2",
                       "dup3",
                       "eventfd2",
                       "pipe2",
                       "epoll_create1",
                       "epoll_ctl",
                       "epoll_wait",
                       "epoll_pwait",
                       "memfd_create",
                       "ftruncate",
                       "fallocate",
                       "mlock",
                       "munlock",
                       "mincore",
                       "get_mempolicy",
                       "set_mempolicy",
                       "mbind",
                       "nanosleep",
                       "clock_nanosleep",
                       "sigaltstack",
                       "membarrier",
                       "sched_getparam",
                       "sched_getscheduler"});
  filter.rule(allow, "prctl", {is(0, PR_SET_NAME)});
  filter.rule(allow, "mmap", {bits(2, PROT_EXEC, 0)});
  filter.rule(allow, "mmap", {bits(2, PROT_EXEC | PROT_WRITE, PROT_EXEC), bits(3, MAP_ANONYMOUS, 0)});
  filter.rule(allow, "mprotect", {bits(2, PROT_EXEC, 0)});
  if (!options.threads) {
    filter.rule(allow, "clone", {bits(0, CLONE_THREAD | CLONE_VM, CLONE_THREAD | CLONE_VM)});
    filter.rule(SCMP_ACT_ERRNO(ENOSYS), "clone3");
  }
}

std::uint32_t otherwise(const FilterOptions& options) {
  return options.device ? SCMP_ACT_ERRNO(EPERM) : static_cast<std::uint32_t>(SCMP_ACT_TRAP);
}

Result<BpfProgram> load_program(const FilterOptions& options) {
  BpfBuilder filter(otherwise(options));
  allow_computing(filter, options);
  allow_talking(filter, options);
  // The next stage, which can only take more away.
  filter.rule(allow, "seccomp", {is(0, SECCOMP_SET_MODE_FILTER), is(1, all_threads_filter)});
  if (options.device) {
    allow_driving(filter, options);
    return filter.build();
  }
  constexpr std::uint64_t writing = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND;
  filter.rule(allow, "open", {bits(1, writing, O_RDONLY)});
  filter.rule(allow, "openat", {bits(2, writing, O_RDONLY)});
  filter.rules(allow, {"read", "readv", "pread64", "stat", "lstat", "newfstatat", "statx", "access", "faccessat", "faccessat2",
                       "readlink", "readlinkat", "getcwd"});
  // Code comes from files only, and what is writable is never executable.
  filter.rule(allow, "mmap", {bits(2, PROT_EXEC, 0)});
  filter.rule(allow, "mmap", {bits(2, PROT_EXEC | PROT_WRITE, PROT_EXEC), bits(3, MAP_ANONYMOUS, 0)});
  filter.rule(allow, "mprotect", {bits(2, PROT_EXEC, 0)});
  return filter.build();
}

Result<BpfProgram> run_program(const FilterOptions& options) {
  BpfBuilder filter(otherwise(options));
  allow_computing(filter, options);
  allow_talking(filter, options);
  if (options.device) {
    allow_driving(filter, options);
    return filter.build();
  }
  filter.rule(allow, "read", {is(0, static_cast<std::uint64_t>(options.control_fd))});
  // New memory only: a descriptor that is open somehow cannot be looked into. And without an address of its choosing: a kernel
  // could else lay memory over the inputs.
  constexpr std::uint64_t kind = MAP_ANONYMOUS | MAP_FIXED | MAP_FIXED_NOREPLACE;
  filter.rule(allow, "mmap", {is(0, 0), bits(2, PROT_EXEC, 0), bits(3, kind, MAP_ANONYMOUS)});
  for (const SharedPlace& place : options.shared_places)
    filter.rule(allow, "mmap",
                {is(0, reinterpret_cast<std::uintptr_t>(place.address)), is(1, place.bytes), is(2, PROT_READ),
                 is(3, MAP_SHARED | MAP_FIXED | MAP_POPULATE), is(5, place.offset)});
  if (options.threads || options.protections) filter.rule(allow, "mprotect", {bits(2, PROT_EXEC, 0)});  // new stacks, among others
  return filter.build();
}

int violation_fd = -1;

// Signal-safe; the message is put together by hand.
void report_violation(int, siginfo_t* info, void*) {
  char message[64] = "{\"event\":\"violation\",\"syscall\":";
  std::size_t end = std::strlen(message);
  char digits[16];
  int count = 0;
  unsigned number = static_cast<unsigned>(info->si_syscall);
  do digits[count++] = static_cast<char>('0' + number % 10);
  while (number /= 10);
  while (count > 0) message[end++] = digits[--count];
  message[end++] = '}';
  message[end++] = '\n';
  (void)!::write(violation_fd, message, end);
  ::_exit(violation_exit_code);
}

}  // namespace

struct RunnerFilters::Programs {
  BpfProgram load, run;
};

RunnerFilters::RunnerFilters(std::unique_ptr<Programs> programs) : programs_(std::move(programs)) {}
RunnerFilters::RunnerFilters(RunnerFilters&&) noexcept = default;
RunnerFilters& RunnerFilters::operator=(RunnerFilters&&) noexcept = default;
RunnerFilters::~RunnerFilters() = default;

Result<RunnerFilters> RunnerFilters::prepare(const FilterOptions& options) {
  auto programs = std::make_unique<Programs>();
  KW_TRY(programs->load, load_program(options));
  KW_TRY(programs->run, run_program(options));
  return RunnerFilters(std::move(programs));
}

Status RunnerFilters::install_load() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !install(programs_->load, all_threads_filter))
    return internal_error(fmt::format("cannot install the seccomp filter for loading: {}", std::strerror(errno)));
  return {};
}

Status RunnerFilters::install_run() {
  if (!install(programs_->run, all_threads_filter))
    return internal_error(fmt::format("cannot install the seccomp filter for running: {}", std::strerror(errno)));
  return {};
}

Status install_violation_reporter(int control_fd) {
  violation_fd = control_fd;
  struct sigaction action {};
  action.sa_sigaction = report_violation;
  action.sa_flags = SA_SIGINFO;
  if (::sigaction(SIGSYS, &action, nullptr) != 0)
    return internal_error(fmt::format("cannot watch for forbidden calls: {}", std::strerror(errno)));
  return {};
}

std::string syscall_name(int number) {
  char* name = seccomp_syscall_resolve_num_arch(seccomp_arch_native(), number);
  std::string result = name ? name : fmt::format("syscall {}", number);
  std::free(name);
  return result;
}

}  // namespace kw::sandbox
