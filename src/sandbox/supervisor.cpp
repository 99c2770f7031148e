#include "sandbox/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

namespace kw::sandbox {
namespace {

// How long the kernel may take to bury what was killed.
constexpr std::chrono::seconds burial_time{20};

// From the supervisor, after the guest's pid.
struct Report {
  int status;
  int by_us;
  long guest_kilobytes;
  long orphan_kilobytes;
};

[[noreturn]] void become(Guest& guest) {
  ::setsid();
  guest.setup.enter();
  if (!guest.folder.empty() && ::chdir(guest.folder.c_str()) != 0) guest.setup.give_up("enter its folder");
  // Not for bubblewrap, which may be installed setuid and sets it itself.
  const bool restricted = guest.landlock_ruleset >= 0 || guest.filter;
  if (restricted && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) guest.setup.give_up("forbid new privileges");
  if (guest.landlock_ruleset >= 0 && ::syscall(SYS_landlock_restrict_self, guest.landlock_ruleset, 0) != 0)
    guest.setup.give_up("restrict it with Landlock");
  if (guest.filter && !install(*guest.filter, this_thread_filter) && !guest.filter_may_fail)
    guest.setup.give_up("lay the seccomp filter around it");
  ::execve(guest.argv.pointers[0], guest.argv.pointers.data(), guest.environment.pointers.data());
  guest.setup.give_up("run it");
}

// Our children: the guest, and orphans of its tree.
void kill_children() {
  char path[64] = "/proc/self/task/";
  char digits[16];
  int count = 0;
  for (pid_t rest = ::getpid(); rest > 0; rest /= 10) digits[count++] = static_cast<char>('0' + rest % 10);
  std::size_t end = std::strlen(path);
  while (count > 0) path[end++] = digits[--count];
  std::memcpy(path + end, "/children", sizeof "/children");
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  char block[4096];
  pid_t pid = 0;
  for (ssize_t got; (got = ::read(fd, block, sizeof block)) > 0;) {
    for (ssize_t i = 0; i < got; ++i) {
      if (block[i] >= '0' && block[i] <= '9') {
        pid = pid * 10 + (block[i] - '0');
      } else if (pid > 0) {
        ::kill(std::exchange(pid, 0), SIGKILL);
      }
    }
  }
  ::close(fd);
}

void wait_for_guest_or_us(int guest_pidfd, int lifeline) {
  pollfd watched[2] = {{guest_pidfd, POLLIN, 0}, {lifeline, POLLIN, 0}};
  while (::poll(watched, 2, -1) < 0 && errno == EINTR) {
  }
}

Report bury_everything(pid_t guest) {
  Report report{};
  siginfo_t ended{};
  report.by_us = ::waitid(P_PID, static_cast<id_t>(guest), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0;
  // The guest is not reaped yet, so its number still means its group. Who left the group becomes our child when
  // its parent dies.
  ::kill(-guest, SIGKILL);
  for (;;) {
    kill_children();
    int status = 0;
    rusage usage{};
    const pid_t reaped = ::wait4(-1, &status, 0, &usage);
    if (reaped < 0 && errno == EINTR) continue;
    if (reaped < 0) return report;
    if (reaped == guest) {
      report.status = status;
      report.guest_kilobytes = usage.ru_maxrss;
    } else {
      report.orphan_kilobytes = std::max(report.orphan_kilobytes, usage.ru_maxrss);
    }
  }
}

[[noreturn]] void supervise(Guest& guest, Placement& kept, int report) {
  ::setsid();  // a Ctrl-C in the terminal is ours to handle, not the supervisor's
  reset_signals();
  ::prctl(PR_SET_NAME, "kw-supervisor", 0, 0, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  const pid_t child = ::fork();
  if (child == 0) become(guest);
  if (child < 0) guest.setup.give_up("fork");
  (void)!::write(report, &child, sizeof child);
  if (!kept.apply()) {
    ::kill(child, SIGKILL);
    ::_exit(1);
  }
  wait_for_guest_or_us(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)), 0);
  const Report told = bury_everything(child);
  (void)!::write(1, &told, sizeof told);
  ::_exit(0);
}

}  // namespace

Result<Ending> Supervisor::end() {
  lifeline_.close();
  const bool gone = wait_readable(pidfd_.get(), Clock::now() + burial_time);
  if (!gone) {
    ::kill(-guest_, SIGKILL);
    ::kill(pid_, SIGKILL);
  }
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (!gone) return internal_error(fmt::format("the sandbox's process {} does not die", guest_), "look for a hung disk or device");
  Report report{};
  if (::read(report_.get(), &report, sizeof report) != static_cast<ssize_t>(sizeof report))
    return internal_error(fmt::format("the sandbox's supervisor {} was killed from outside", pid_));
  return Ending{report.status, report.by_us != 0, static_cast<std::uint64_t>(report.guest_kilobytes) * 1024,
                static_cast<std::uint64_t>(report.orphan_kilobytes) * 1024};
}

Result<Supervisor> start_supervisor(Guest& guest, Clock::time_point until) {
  KW_TRY(Pipe lifeline, make_pipe());
  KW_TRY(Pipe report, make_pipe());
  KW_TRY(Pipe failure, make_pipe());
  guest.setup.report_failures_to(failure.write.get());
  Placement kept;
  kept.add(lifeline.read.get(), 0);
  kept.add(report.write.get(), 1);

  const pid_t child = ::fork();
  if (child < 0)
    return internal_error(fmt::format("cannot fork: {}", std::strerror(errno)), "too many processes, or no memory left");
  if (child == 0) supervise(guest, kept, report.write.get());

  Supervisor supervisor;
  supervisor.pid_ = child;
  supervisor.lifeline_ = std::move(lifeline.write);
  supervisor.report_ = std::move(report.read);
  failure.write.close();
  report.write.close();
  const auto reap = [&] {
    supervisor.lifeline_.close();
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  };
  if (Status started = exec_succeeded(failure.read.get(), until, guest.argv.storage[0]); !started) {
    reap();
    return std::move(started.error());
  }
  if (auto pidfd = open_pidfd(child); pidfd) {
    supervisor.pidfd_ = std::move(*pidfd);
  } else {
    reap();
    return std::move(pidfd.error());
  }
  if (::read(supervisor.report_.get(), &supervisor.guest_, sizeof supervisor.guest_) !=
      static_cast<ssize_t>(sizeof supervisor.guest_)) {
    reap();
    return internal_error(fmt::format("the sandbox's supervisor {} could not start", child));
  }
  return supervisor;
}

}  // namespace kw::sandbox
