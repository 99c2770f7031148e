#include "dsl/session_watch.h"

#include <unistd.h>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>

namespace kw {

bool is_stopped(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t after_name = text.rfind(')');
  return after_name == std::string::npos || after_name + 2 >= text.size() || text[after_name + 2] == 'T' ||
         text[after_name + 2] == 'Z';
}

bool is_busy_unasked(pid_t pid) {
  clockid_t clock = 0;
  if (::clock_getcpuclockid(pid, &clock) != 0) return false;
  const auto used = [&] {
    timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  ::usleep(3000);
  // An honest kernel was seen busy once, for reasons that did not show: only what is busy every time is busy by itself.
  constexpr int kLooks = 6;
  for (int look = 0; look < kLooks; ++look) {
    const double before = used();
    ::usleep(10000);
    if (used() - before <= 0.002) return false;
  }
  return true;
}

}  // namespace kw
