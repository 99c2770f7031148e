#include "sandbox/sandbox.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "base/work_limit.h"
#include "sandbox/guests.h"

namespace kw::sandbox {
namespace {

// Keeps what fits and reads on, so that the writer never blocks.
class Capture {
 public:
  Capture(Fd fd, std::size_t cap) : fd_(std::move(fd)), cap_(cap) { ::fcntl(fd_.get(), F_SETFL, O_NONBLOCK); }
  [[nodiscard]] int fd() const { return fd_.get(); }
  // One read. False when there is nothing more for now.
  bool take() {
    if (!fd_) return false;
    char block[65536];
    const ssize_t got = ::read(fd_.get(), block, sizeof block);
    if (got < 0) return errno == EINTR;
    if (got == 0) {
      fd_.close();
      return false;
    }
    const std::size_t kept = std::min(static_cast<std::size_t>(got), cap_ - text_.size());
    text_.append(block, kept);
    truncated_ = truncated_ || kept < static_cast<std::size_t>(got);
    return true;
  }
  void take_all() {
    while (take()) {
    }
  }
  [[nodiscard]] bool truncated() const { return truncated_; }
  std::string& text() { return text_; }

 private:
  Fd fd_;
  std::size_t cap_;
  std::string text_;
  bool truncated_ = false;
};

std::uint64_t own_peak_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

bool says_out_of_memory(const std::string& text) {
  for (const char* words :
       {"bad_alloc", "out of memory", "Out of memory", "Cannot allocate memory", "memory exhausted", "MemoryError"})
    if (text.find(words) != std::string::npos) return true;
  return false;
}

Status check(const Spec& spec) {
  if (spec.argv.empty() || spec.argv[0].empty() || spec.argv[0][0] != '/')
    return internal_error(fmt::format("'{}' is not the full path of a program", spec.argv.empty() ? "" : spec.argv[0]));
  for (const auto* binds : {&spec.read_only, &spec.read_write})
    for (const Bind& bind : *binds)
      if (::access(bind.source.c_str(), F_OK) != 0)
        return bad_input(fmt::format("cannot show {} in the sandbox: it does not exist", bind.source));
  for (const auto& [ours, number] : spec.descriptors)
    if (number == 1 || number == 2 || number < 0 || number > 200 || ::fcntl(ours, F_GETFD) < 0)
      return internal_error(fmt::format("descriptor {} cannot be {} in the sandbox", ours, number));
  for (const int core : spec.cores)
    if (core < 0 || core >= CPU_SETSIZE) return internal_error(fmt::format("there is no core {}", core));
  return {};
}

}  // namespace

std::string_view name_of(Mode mode) {
  switch (mode) {
    case Mode::bubblewrap:
      return "bubblewrap";
    case Mode::landlock:
      return "landlock";
    case Mode::none:
      return "none";
  }
  return "none";
}

struct Process::State {
  State(std::unique_ptr<Running> started, Fd out, Fd err, const Spec& spec, Clock::time_point began)
      : running(std::move(started)),
        out_capture(std::move(out), spec.limits.output_cap),
        err_capture(std::move(err), spec.limits.output_cap),
        began(began),
        memory_bytes(spec.limits.memory_bytes),
        cores(spec.cores),
        deadline(began + spec.limits.deadline) {}

  std::unique_ptr<Running> running;
  Capture out_capture, err_capture;
  const Clock::time_point began;
  const std::uint64_t memory_bytes;
  const std::vector<int> cores;
  const std::uint64_t our_peak_bytes = own_peak_bytes();
  Fd wake{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::atomic<Clock::time_point> deadline;
  std::atomic<bool> kill_asked{false};

  std::mutex guard;
  std::condition_variable ended;
  std::optional<Result<Outcome>> outcome;  // set once everything is gone
  std::thread watcher;

  void poke() const {
    const std::uint64_t one = 1;
    (void)!::write(wake.get(), &one, sizeof one);
  }
  void watch();
  bool wait_for_end_or_reason_to_end();
  Result<Outcome> conclude(bool late);
};

// True when the deadline passed.
bool Process::State::wait_for_end_or_reason_to_end() {
  for (;;) {
    if (kill_asked) return false;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline.load() - Clock::now()).count();
    if (left <= 0) return true;
    pollfd watched[4] = {{running->supervisor().ended_fd(), POLLIN, 0},
                         {wake.get(), POLLIN, 0},
                         {out_capture.fd(), POLLIN, 0},
                         {err_capture.fd(), POLLIN, 0}};
    if (::poll(watched, 4, static_cast<int>(std::min<long long>(left, 1000000))) < 0) continue;
    if (watched[1].revents) {
      std::uint64_t count;
      (void)!::read(wake.get(), &count, sizeof count);
    }
    if (watched[2].revents) out_capture.take();
    if (watched[3].revents) err_capture.take();
    if (watched[0].revents) return false;
  }
}

Result<Outcome> Process::State::conclude(bool late) {
  auto finished = running->end();
  // Every writer is gone: what is in the pipes is all there will be.
  out_capture.take_all();
  err_capture.take_all();
  if (!finished) {
    if (!err_capture.text().empty()) finished.error().message += ": " + err_capture.text();
    return std::move(finished.error());
  }
  Outcome outcome;
  outcome.timed_out = late && finished->by_us;
  outcome.killed = !late && finished->by_us;
  if (WIFSIGNALED(finished->status)) {
    outcome.signal = WTERMSIG(finished->status);
  } else if (const int code = WEXITSTATUS(finished->status); code > 128 && code <= 128 + 64) {
    outcome.signal = code - 128;
  } else {
    outcome.exit_code = code;
  }
  outcome.timed_out = outcome.timed_out || outcome.signal == SIGXCPU;  // more than all cores could give before the deadline
  outcome.output_truncated = out_capture.truncated() || err_capture.truncated();
  outcome.out = std::move(out_capture.text());
  outcome.err = std::move(err_capture.text());
  outcome.peak_memory_bytes = finished->peak_memory_bytes;
  const bool failed_by_itself = !finished->by_us && !outcome.timed_out && (outcome.signal != 0 || outcome.exit_code != 0);
  const bool was_full = outcome.peak_memory_bytes > our_peak_bytes && outcome.peak_memory_bytes > memory_bytes / 10 * 9;
  outcome.memory_exceeded = failed_by_itself && (was_full || outcome.signal == SIGKILL || says_out_of_memory(outcome.err));
  outcome.seconds = std::chrono::duration<double>(Clock::now() - began).count();
  return outcome;
}

void Process::State::watch() {
  const bool late = wait_for_end_or_reason_to_end();
  Result<Outcome> concluded = conclude(late);
  const std::lock_guard lock(guard);
  outcome = std::move(concluded);
  ended.notify_all();
}

Process::Process(std::unique_ptr<State> state) : state_(std::move(state)) {}
Process::Process(Process&&) noexcept = default;
Process& Process::operator=(Process&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}
Process::~Process() {
  if (!state_ || !state_->watcher.joinable()) return;
  kill();
  state_->watcher.join();
}

pid_t Process::pid() const { return state_->running->supervisor().pid(); }

pid_t Process::program_pid() const {
  const std::lock_guard lock(state_->guard);
  return state_->outcome ? 0 : state_->running->program_pid();
}

void Process::set_deadline(std::chrono::milliseconds from_now) {
  state_->deadline = Clock::now() + from_now;
  rlimit processor{};
  if (const pid_t program = program_pid(); program > 0 && ::prlimit(program, RLIMIT_CPU, nullptr, &processor) == 0) {
    processor.rlim_cur = std::min<rlim_t>(processor.rlim_cur + processor_seconds(state_->cores, from_now), processor.rlim_max);
    ::prlimit(program, RLIMIT_CPU, &processor, nullptr);
  }
  state_->poke();
}

bool Process::wait_for(std::chrono::milliseconds time) {
  std::unique_lock lock(state_->guard);
  return state_->ended.wait_for(lock, time, [this] { return state_->outcome.has_value(); });
}

void Process::kill() {
  state_->kill_asked = true;
  state_->poke();
}

Result<Outcome> Process::finish() {
  if (!state_->watcher.joinable()) return internal_error("finish() was called twice");
  state_->watcher.join();
  return std::move(*state_->outcome);
}

Result<Process> start(const Spec& spec, Mode mode) {
  const auto began = Clock::now();
  const auto until = began + spec.limits.deadline;
  KW_CHECK(check(spec));
  KW_TRY(Pipe out, make_pipe());
  KW_TRY(Pipe err, make_pipe());
  const Fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing) return internal_error("cannot open /dev/null");
  const Streams streams{nothing.get(), out.write.get(), err.write.get()};
  auto running = mode == Mode::bubblewrap ? start_in_bubblewrap(spec, streams, until)
                 : mode == Mode::landlock ? start_in_landlock(spec, streams, until)
                                          : start_unconfined(spec, streams, until);
  out.write.close();
  err.write.close();
  if (!running) {
    if (const std::string said = read_until(err.read.get(), Clock::now()); !said.empty()) running.error().message += ": " + said;
    return std::move(running.error());
  }
  auto state = std::make_unique<Process::State>(std::move(*running), std::move(out.read), std::move(err.read), spec, began);
  state->watcher = std::thread([watched = state.get()] { watched->watch(); });
  return Process(std::move(state));
}

Result<Outcome> run(const Spec& spec, Mode mode) {
  KW_TRY(Process process, start(spec, mode));
  while (!process.wait_for(kLookAtLimit))
    if (auto end = work_must_end()) return *end;
  return process.finish();
}

}  // namespace kw::sandbox
