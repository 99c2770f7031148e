#include "machine/machine_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/work_limit.h"

namespace kw {
namespace {

using std::chrono::milliseconds;

// Only for the message, so a failure does no harm: the lock itself is the kernel's.
void sign(int fd) {
  const std::string pid = fmt::format("{}\n", getpid());
  const bool cleared = ftruncate(fd, 0) == 0;
  [[maybe_unused]] const bool written = cleared && pwrite(fd, pid.data(), pid.size(), 0) > 0;
}

std::string holder(int fd) {
  char text[32] = {};
  const ssize_t got = pread(fd, text, sizeof text - 1, 0);
  const long pid = got > 0 ? std::strtol(text, nullptr, 10) : 0;
  return pid > 0 ? fmt::format("process {}", pid) : "another process";
}

}  // namespace

Result<MachineLock> MachineLock::acquire(const LockWait& wait, const fs::path& folder) {
  KW_CHECK(make_folders(folder));
  const fs::path path = folder / "timing.lock";
  // Closed on exec: a child that outlives us must not hold on to the lock.
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0)
    return internal_error(fmt::format("cannot open {}: {}", path.string(), std::strerror(errno)),
                          "check its permissions, or point KERNELWRIGHT_CACHE elsewhere");
  LockedFile file(fd);
  const auto start = std::chrono::steady_clock::now();
  milliseconds told{-1};
  for (milliseconds pause{5};; pause = std::min(pause * 2, milliseconds(100))) {
    const int why_not = file.lock();
    if (why_not == 0) {
      sign(fd);
      return MachineLock(std::move(file));
    }
    if (why_not != EWOULDBLOCK)
      return internal_error(fmt::format("cannot lock {}: {}", path.string(), std::strerror(why_not)),
                            "its file system must support flock; point KERNELWRIGHT_CACHE at one that does");
    if (auto end = work_must_end()) return *end;
    const auto waited = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - start);
    if (waited >= wait.timeout)
      return internal_error(fmt::format("{} has been timing for {:.1f} s and holds {}", holder(fd),
                                        static_cast<double>(waited.count()) / 1000, path.string()),
                            "wait for it or end it: two timings at once would spoil each other");
    if (wait.on_wait && (told.count() < 0 || waited - told >= milliseconds(1000))) {
      told = waited;
      if (!wait.on_wait(waited))
        return internal_error(fmt::format("gave up waiting for {}, held by {}", path.string(), holder(fd)));
    }
    std::this_thread::sleep_for(std::min(pause, wait.timeout - waited));
  }
}

}  // namespace kw
