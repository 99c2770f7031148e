#include "stability/core_load.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace kw::stability {

Result<CoreLoad> CoreLoad::start(int core) {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return internal_error(fmt::format("cannot start a process to load core {}: {}", core, std::strerror(errno)));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    if (::getppid() != parent || ::sched_setaffinity(0, sizeof set, &set) != 0) ::_exit(1);
    for (volatile unsigned long turns = 0;;) turns = turns + 1;
  }
  return CoreLoad(child);
}

CoreLoad::CoreLoad(CoreLoad&& other) noexcept : child_(std::exchange(other.child_, -1)) {}

CoreLoad::~CoreLoad() {
  if (child_ <= 0) return;
  ::kill(child_, SIGKILL);
  while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace kw::stability
