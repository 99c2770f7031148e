#include "base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "base/work_limit.h"

namespace kw {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void become(const Command& command, int out, int err, int failure) {
  ::setpgid(0, 0);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  if (!command.folder.empty() && ::chdir(command.folder.c_str()) != 0) {
    const int code = errno;
    (void)!::write(failure, &code, sizeof code);
    ::_exit(127);
  }
  for (const auto& [name, value] : command.environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> argv;
  for (const auto& word : command.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  const int code = errno;
  (void)!::write(failure, &code, sizeof code);
  ::_exit(127);
}

// Reads what is there; false at the end of the stream.
bool drain(int fd, std::string& into, std::size_t cap) {
  char block[65536];
  const ssize_t got = ::read(fd, block, sizeof block);
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  if (got == 0) return false;
  if (into.size() < cap) into.append(block, std::min<std::size_t>(static_cast<std::size_t>(got), cap - into.size()));
  return true;
}

}  // namespace

Result<CommandOutcome> run_command(const Command& command) {
  int out[2], err[2], failure[2];
  if (::pipe2(out, O_CLOEXEC) != 0) return internal_error(fmt::format("pipe: {}", std::strerror(errno)));
  if (::pipe2(err, O_CLOEXEC) != 0) return internal_error(fmt::format("pipe: {}", std::strerror(errno)));
  if (::pipe2(failure, O_CLOEXEC) != 0) return internal_error(fmt::format("pipe: {}", std::strerror(errno)));
  const pid_t child = ::fork();
  if (child < 0) return internal_error(fmt::format("cannot start {}: {}", command.argv[0], std::strerror(errno)));
  if (child == 0) become(command, out[1], err[1], failure[1]);
  ::close(out[1]);
  ::close(err[1]);
  ::close(failure[1]);

  CommandOutcome outcome;
  const auto deadline = Clock::now() + command.deadline;
  bool out_open = true, err_open = true;
  std::optional<Error> end;  // why the work as a whole has to end
  while (out_open || err_open) {
    if ((end = work_must_end())) break;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      outcome.timed_out = true;
      break;
    }
    pollfd watched[2] = {{out_open ? out[0] : -1, POLLIN, 0}, {err_open ? err[0] : -1, POLLIN, 0}};
    if (::poll(watched, 2, static_cast<int>(std::min<long long>(left, kLookAtLimit.count()))) < 0 && errno != EINTR) break;
    if (out_open && watched[0].revents) out_open = drain(out[0], outcome.out, command.output_cap);
    if (err_open && watched[1].revents) err_open = drain(err[0], outcome.err, command.output_cap);
  }
  if (outcome.timed_out || end) ::kill(-child, SIGKILL);
  int status = 0;
  for (;;) {
    const pid_t reaped = ::waitpid(child, &status, outcome.timed_out || end ? 0 : WNOHANG);
    if (reaped == child || (reaped < 0 && errno != EINTR)) break;
    if (reaped == 0) {
      if (end = work_must_end(); end || Clock::now() >= deadline) {
        outcome.timed_out = !end;
        ::kill(-child, SIGKILL);
      } else {
        ::usleep(500);
      }
    }
  }
  ::kill(-child, SIGKILL);  // whatever it left behind in its group
  int code = 0;
  const bool never_started = ::read(failure[0], &code, sizeof code) == static_cast<ssize_t>(sizeof code);
  ::close(out[0]);
  ::close(err[0]);
  ::close(failure[0]);
  if (never_started)
    return bad_input(fmt::format("cannot start {}: {}", command.argv[0], std::strerror(code)),
                     "run 'kernelwright doctor' to see what is missing");
  if (end) return *end;
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  return outcome;
}

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  std::string folders = path ? path : "";
  for (std::size_t start = 0; start <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', start), folders.size());
    std::string candidate = folders.substr(start, end - start) + "/" + name;
    std::error_code ignored;
    if (::access(candidate.c_str(), X_OK) == 0 && !std::filesystem::is_directory(candidate, ignored)) return candidate;
    start = end + 1;
  }
  return "";
}

}  // namespace kw
