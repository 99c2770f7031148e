#include "sandbox/child.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <thread>

#include <fmt/format.h>

namespace kw::sandbox {
namespace {

struct Failure {
  int code;
  char step[60];
};

void close_range_of(unsigned first, unsigned last) {
  if (first > last) return;
  if (::syscall(SYS_close_range, first, last, 0) == 0) return;
  rlimit open_files{};
  ::getrlimit(RLIMIT_NOFILE, &open_files);
  const unsigned end = static_cast<unsigned>(std::min<rlim_t>(open_files.rlim_cur, INT_MAX));
  for (unsigned fd = first; fd <= last && fd < end; ++fd) ::close(static_cast<int>(fd));
}

// When memory runs out the kernel should pick the guest, not us.
void volunteer_for_the_oom_killer() {
  const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  (void)!::write(fd, "1000", 4);
  ::close(fd);
}

}  // namespace

void Placement::add(int ours, int number, bool close_on_exec) {
  const auto place =
      std::find_if(entries_.begin(), entries_.end(), [number](const Entry& entry) { return entry.number >= number; });
  if (place != entries_.end() && place->number == number) {
    *place = {ours, number, close_on_exec, -1};
  } else {
    entries_.insert(place, {ours, number, close_on_exec, -1});
  }
}

int Placement::add_above(int ours, bool close_on_exec) {
  const int number = std::max(entries_.empty() ? 0 : entries_.back().number + 1, 3);
  add(ours, number, close_on_exec);
  return number;
}

bool Placement::apply() {
  int above = 0;
  for (const Entry& entry : entries_) above = std::max({above, entry.ours + 1, entry.number + 1});
  for (Entry& entry : entries_)
    if ((entry.moved = ::fcntl(entry.ours, F_DUPFD_CLOEXEC, above)) < 0) return false;
  unsigned next = 0;
  for (const Entry& entry : entries_) {
    if (::dup3(entry.moved, entry.number, entry.close_on_exec ? O_CLOEXEC : 0) < 0) return false;
    if (static_cast<unsigned>(entry.number) > next) close_range_of(next, static_cast<unsigned>(entry.number) - 1);
    next = static_cast<unsigned>(entry.number) + 1;
  }
  close_range_of(next, ~0U);
  return true;
}

Words::Words(std::vector<std::string> words) : storage(std::move(words)) {
  for (std::string& word : storage) pointers.push_back(word.data());
  pointers.push_back(nullptr);
}

Words environment_words(const std::map<std::string, std::string>& environment) {
  std::vector<std::string> words;
  for (const auto& [name, value] : environment) words.push_back(name + "=" + value);
  return Words(std::move(words));
}

std::uint64_t processor_seconds(const std::vector<int>& cores, std::chrono::milliseconds time) {
  const std::uint64_t count = cores.empty() ? std::max(std::thread::hardware_concurrency(), 1U) : cores.size();
  return (static_cast<std::uint64_t>(std::max<long long>(time.count(), 0)) / 1000 + 5) * count;
}

ChildSetup::ChildSetup(const Spec& spec, const Streams& streams) {
  placement.add(streams.in, 0);
  placement.add(streams.out, 1);
  placement.add(streams.err, 2);
  for (const auto& [ours, number] : spec.descriptors) placement.add(ours, number);

  const auto limit = [&](int resource, rlim_t value) {
    // Raising a hard limit that we run under ourselves is not ours to do.
    rlimit present{};
    if (::getrlimit(static_cast<__rlimit_resource>(resource), &present) == 0) value = std::min(value, present.rlim_max);
    limits.emplace_back(resource, rlimit{value, value});
  };
  limit(RLIMIT_AS, spec.limits.memory_bytes);
  limit(RLIMIT_FSIZE, spec.limits.file_bytes);
  limit(RLIMIT_NOFILE, 256);
  limit(RLIMIT_CORE, 0);
  // A second line behind the deadline. Soft, because set_deadline() may have to raise it.
  rlimit processor{};
  ::getrlimit(RLIMIT_CPU, &processor);
  const auto allowed = spec.limits.processor.count() > 0 ? static_cast<rlim_t>((spec.limits.processor.count() + 999) / 1000)
                                                         : static_cast<rlim_t>(processor_seconds(spec.cores, spec.limits.deadline));
  processor.rlim_cur = std::min(allowed, processor.rlim_max);
  limits.emplace_back(RLIMIT_CPU, processor);

  CPU_ZERO(&cores);
  for (const int core : spec.cores) CPU_SET(core, &cores);
  set_cores = !spec.cores.empty();
}

void reset_signals() {
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &usual, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void ChildSetup::report_failures_to(int ours) {
  failure_fd = ours;
  failure_fd_placed = placement.add_above(ours, true);
}

void ChildSetup::enter() {
  reset_signals();
  volunteer_for_the_oom_killer();
  if (!placement.apply()) give_up("place its descriptors");
  failure_fd = failure_fd_placed;
  if (set_cores && ::sched_setaffinity(0, sizeof cores, &cores) != 0) give_up("pin it to its cores");
  for (const auto& [resource, value] : limits)
    if (::setrlimit(static_cast<__rlimit_resource>(resource), &value) != 0) give_up("set its limits");
}

void ChildSetup::give_up(const char* step) const {
  Failure failure{errno, {}};
  std::strncpy(failure.step, step, sizeof failure.step - 1);
  (void)!::write(failure_fd, &failure, sizeof failure);
  ::_exit(127);
}

Status exec_succeeded(int failure_fd, Clock::time_point until, const std::string& program) {
  const std::string said = read_until(failure_fd, until);
  if (said.empty()) return {};
  Failure failure{};
  std::memcpy(&failure, said.data(), std::min(said.size(), sizeof failure));
  return bad_input(
      fmt::format("cannot start {} in the sandbox: could not {}: {}", program, failure.step, std::strerror(failure.code)));
}

}  // namespace kw::sandbox
