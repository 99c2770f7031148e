#include "profile/counters.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "base/files.h"

namespace kw {
namespace {

constexpr std::array<std::uint64_t, 4> kEvents{PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CACHE_REFERENCES,
                                               PERF_COUNT_HW_CACHE_MISSES};

int open_event(pid_t thread, std::uint64_t event) {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.size = sizeof attributes;
  attributes.config = event;
  attributes.disabled = 1;
  attributes.inherit = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

std::vector<pid_t> threads_of(pid_t process) {
  std::vector<pid_t> threads;
  for (const auto& entry : entries_of(fmt::format("/proc/{}/task", process))) {
    const std::string name = entry.path().filename().string();
    pid_t thread = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), thread);
    if (error == std::errc() && end == name.data() + name.size()) threads.push_back(thread);
  }
  return threads;
}

}  // namespace

bool Counters::available() {
  static const bool yes = [] {
    const int descriptor = open_event(0, PERF_COUNT_HW_CPU_CYCLES);
    if (descriptor >= 0) close(descriptor);
    return descriptor >= 0;
  }();
  return yes;
}

Result<Counters> Counters::open(pid_t process) {
  Counters counters;
  for (const pid_t thread : threads_of(process))
    for (std::size_t which = 0; which < kEvents.size(); ++which) {
      const int descriptor = open_event(thread, kEvents[which]);
      if (descriptor >= 0) counters.events_.push_back({descriptor, which});
      const int reason = errno;
      const bool thread_has_ended = descriptor < 0 && reason == ESRCH;
      const bool optional_event = which > 1;  // some machines count cycles and instructions alone
      if (descriptor < 0 && !thread_has_ended && !optional_event)
        return bad_input(fmt::format("hardware counters of process {} cannot be opened: {}", process, std::strerror(reason)),
                         "allow them with sysctl kernel.perf_event_paranoid=1; many virtual machines have none");
    }
  if (counters.events_.empty()) return bad_input(fmt::format("process {} has no threads to count", process), "has it ended?");
  return counters;
}

Counters::Counters(Counters&& other) noexcept : events_(std::move(other.events_)) { other.events_.clear(); }

Counters& Counters::operator=(Counters&& other) noexcept {
  std::swap(events_, other.events_);
  return *this;
}

Counters::~Counters() {
  for (const Event& event : events_) close(event.descriptor);
}

Status Counters::for_all(unsigned long request) {
  for (const Event& event : events_)
    if (ioctl(event.descriptor, request, 0) != 0)
      return internal_error(fmt::format("a hardware counter refused: {}", std::strerror(errno)));
  return {};
}

Status Counters::start() {
  KW_CHECK(for_all(PERF_EVENT_IOC_RESET));
  return for_all(PERF_EVENT_IOC_ENABLE);
}

Status Counters::stop() { return for_all(PERF_EVENT_IOC_DISABLE); }

Result<CounterValues> Counters::read() const {
  std::array<double, kEvents.size()> sums{};
  for (const Event& event : events_) {
    std::array<std::uint64_t, 3> raw{};  // value, time enabled, time running
    if (::read(event.descriptor, raw.data(), sizeof raw) != static_cast<ssize_t>(sizeof raw))
      return internal_error(fmt::format("a hardware counter cannot be read: {}", std::strerror(errno)));
    if (raw[2] > 0) sums[event.which] += static_cast<double>(raw[0]) * static_cast<double>(raw[1]) / static_cast<double>(raw[2]);
  }
  return CounterValues{sums[0], sums[1], sums[2], sums[3]};
}

}  // namespace kw
