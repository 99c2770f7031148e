#include "sandbox/fd.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace kw::sandbox {

void Fd::close() {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return internal_error(fmt::format("cannot make a pipe: {}", std::strerror(errno)), "raise the limit of open files (ulimit -n)");
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

Result<Fd> open_pidfd(pid_t pid) {
  const long fd = ::syscall(SYS_pidfd_open, pid, 0);
  if (fd < 0)
    return internal_error(fmt::format("pidfd_open({}): {}", pid, std::strerror(errno)), "the sandbox needs Linux 5.3 or newer");
  return Fd(static_cast<int>(fd));
}

Result<Fd> file_in_memory(const void* data, std::size_t size) {
  Fd fd(::memfd_create("kw-sandbox", MFD_CLOEXEC));
  if (!fd || ::write(fd.get(), data, size) != static_cast<ssize_t>(size) || ::lseek(fd.get(), 0, SEEK_SET) != 0)
    return internal_error(fmt::format("cannot make a file of {} bytes in memory: {}", size, std::strerror(errno)));
  return fd;
}

bool wait_readable(int fd, Clock::time_point until) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd watched{fd, POLLIN, 0};
    const int ready = ::poll(&watched, 1, static_cast<int>(std::clamp<long long>(left, 0, 60000)));
    if (ready > 0) return true;
    if (ready == 0 && left <= 0) return false;
    if (ready < 0 && errno != EINTR) return false;
  }
}

std::string read_until(int fd, Clock::time_point until) {
  std::string text;
  char block[4096];
  while (wait_readable(fd, until)) {
    const ssize_t got = ::read(fd, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(block, static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace kw::sandbox
