#include "dsl/session.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <random>

#include <fmt/format.h>

#include "base/files.h"
#include "base/timing_environment.h"
#include "base/work_limit.h"
#include "dsl/memory_file.h"
#include "dsl/python_box.h"
#include "dsl/python_guest.h"
#include "dsl/run_failure.h"
#include "dsl/session_box.h"
#include "dsl/session_files.h"
#include "dsl/session_watch.h"
#include "runner/protocol.h"

namespace kw {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::uint64_t kPage = 4096;
// A virtual GPU has the tensors again and knows of each byte who wrote and read it; its threads and caches take the rest.
constexpr std::uint64_t kGpuCopies = 8, kGpuBytes = std::uint64_t{2} << 30;
// OpenCL brings a compiler with it, whether it is used or not.
constexpr std::uint64_t kOpenClBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostReport = std::uint64_t{512} << 20;

// A process that was ended because the work as a whole has to end says nothing about its kernel.
template <typename T>
std::optional<Error> stopped_by_us(const Answered<T>& answered) {
  return answered.ok() ? std::nullopt : work_must_end();
}

}  // namespace

struct Session::State {
  SessionOptions options;
  runner::Spec spec;
  SessionFiles files;
  int shown = -1;  // the set of inputs that is in the process
  int spec_file = -1, control = -1;
  std::optional<sandbox::Process> process;
  pid_t runner_pid = 0;
  RegionAddresses regions;
  std::vector<std::uint64_t> device;      // where tensors are on the virtual GPU, by argument
  std::vector<std::string> libraries;     // what the runner needs to start
  std::vector<std::string> opencl_files;  // the same of OpenCL, for kernels in it
  bool stopped = false;
  Json python;  // what a Python guest is told beside the spec; null for the runner
  OwnWeights own_weights;
  GuestOutputs guest_outputs;
  std::mt19937_64 tickets{std::random_device{}()};
  Clock::time_point sent_at, received_at;  // of the last order and of the last message
  double order_seconds = 0;                // of the quickest rehearsal

  ~State() {
    thaw();
    process.reset();
    for (const int descriptor : {spec_file, control})
      if (descriptor >= 0) ::close(descriptor);
  }

  void thaw() {
    if (stopped && runner_pid > 0) ::kill(runner_pid, SIGCONT);
    stopped = false;
  }

  void freeze() {
    if (runner_pid <= 0 || ::kill(runner_pid, SIGSTOP) != 0) return;
    stopped = true;
    process->set_deadline(std::chrono::minutes(10));  // from here on the time is ours, not the kernel's
    for (int i = 0; i < 2000 && !is_stopped(runner_pid); ++i) ::usleep(50);
  }

  // A session may be launched again after its process has ended: the contents stay.
  void forget_process() {
    process.reset();
    runner_pid = 0;
    stopped = false;
    shown = -1;
    regions.clear();
    for (int* descriptor : {&spec_file, &control}) {
      if (*descriptor >= 0) ::close(*descriptor);
      *descriptor = -1;
    }
  }

  Status start_process(milliseconds deadline) {
    forget_process();
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
      return internal_error(fmt::format("socketpair: {}", std::strerror(errno)));
    control = ends[0];
    const int on = 1;
    ::setsockopt(control, SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
    Json told = spec;
    if (options.python) told["python"] = python;
    const std::string text = told.dump();
    KW_TRY(spec_file, memory_file("kw-spec", text.size()));
    if (::pwrite(spec_file, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
      return internal_error("cannot write the runner's spec");
    KW_TRY(const int spec_read_only, read_only_again(spec_file));

    auto prepared = options.python ? guest_box(options) : runner_box(spec, options, libraries, opencl_files);
    if (!prepared) {
      ::close(ends[1]);
      ::close(spec_read_only);
      return prepared.error();
    }
    sandbox::Spec box = std::move(*prepared);
    for (const auto& [name, value] : timing_environment()) box.environment[name] = value;
    box.environment["OMP_NUM_THREADS"] = std::to_string(options.threads);
    box.environment["OMP_DYNAMIC"] = "false";
    box.environment["OMP_MAX_ACTIVE_LEVELS"] = "1";
    if (options.passive_waits) box.environment["OMP_WAIT_POLICY"] = "passive";
    box.descriptors = {{ends[1], runner::kControlDescriptor},
                       {spec_read_only, runner::kSpecDescriptor},
                       {files.weights(), runner::kDataDescriptor}};
    box.cores = options.cores;
    box.limits.deadline = deadline;
    box.limits.output_cap = 64 << 10;
    std::uint64_t mapped = 0;
    for (const auto& argument : spec.arguments) {
      const int copies = argument.role == runner::Role::output ? spec.out_slots : 1;
      mapped += static_cast<std::uint64_t>(copies) * (argument.region + 2 * runner::kGuardBytes);
    }
    if (options.gpu) mapped = kGpuCopies * mapped + kGpuBytes;
    if (!spec.opencl.empty()) {
      for (const std::uint64_t bytes : spec.opencl.scratch_bytes) mapped += bytes + kPage + 2 * runner::kGuardBytes;
      mapped = 2 * mapped + kOpenClBytes;  // the tensors again, as zeros
    }
    const std::uint64_t extra =
        options.extra_memory_bytes > 0 ? options.extra_memory_bytes : std::max<std::uint64_t>(std::uint64_t{1} << 30, 4 * mapped);
    // Threads' stacks count as address space too. The sanitizer reserves terabytes, and so does a GPU's driver.
    box.limits.memory_bytes = options.debug || options.device
                                  ? std::uint64_t{1} << 46
                                  : mapped + extra + static_cast<std::uint64_t>(options.threads) * (64 << 20);
    if (options.python) box.limits.memory_bytes += kPythonMemory;
    auto started = sandbox::start(box, options.mode);
    ::close(ends[1]);
    ::close(spec_read_only);
    if (!started) return started.error();
    process = std::move(*started);
    return {};
  }

  // The next message, or nothing when the process is gone or late.
  std::optional<Json> receive(Clock::time_point deadline, bool& late) {
    for (;;) {
      const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now()).count();
      if (left < 0) {
        late = true;
        return std::nullopt;
      }
      if (work_must_end()) {
        process->kill();
        return std::nullopt;
      }
      pollfd watched{control, POLLIN, 0};
      const int ready = ::poll(&watched, 1, static_cast<int>(std::min<long long>(left + 1, kLookAtLimit.count())));
      if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
      std::string text(runner::kMaxMessage, '\0');
      char extra[CMSG_SPACE(sizeof(ucred))];
      iovec part{text.data(), text.size()};
      msghdr header{};
      header.msg_iov = &part;
      header.msg_iovlen = 1;
      header.msg_control = extra;
      header.msg_controllen = sizeof extra;
      const ssize_t got = ::recvmsg(control, &header, 0);
      received_at = Clock::now();
      if (got <= 0) return std::nullopt;
      for (cmsghdr* item = CMSG_FIRSTHDR(&header); item != nullptr && runner_pid == 0; item = CMSG_NXTHDR(&header, item)) {
        if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_CREDENTIALS) continue;
        ucred who{};
        std::memcpy(&who, CMSG_DATA(item), sizeof who);
        runner_pid = who.pid;  // translated into our namespace by the kernel
      }
      auto message = parse_json(std::string_view(text).substr(0, static_cast<std::size_t>(got)), "the runner's message");
      // Whatever the kernel sent in the runner's place: every message is an object with the name of an event.
      if (!message || !message->is_object() || !message->contains("event") || !message->at("event").is_string())
        return Json{{"event", "nonsense"}};
      return *message;
    }
  }

  RunFailure failure_at_end(const std::string& stage, bool late, double deadline_seconds) {
    if (late) process->kill();
    auto outcome = process->finish();
    runner_pid = 0;
    process.reset();
    if (!outcome) return {Verdict::mistrusted, {stage, outcome.error().message, "", {}, outcome.error().hint, ""}, {}, ""};
    if (late) outcome->timed_out = true;
    RunFailure failure = failure_from_end(*outcome, stage, deadline_seconds);
    if (options.python) explain_python_end(failure, options.python->file, outcome->signal);
    return failure;
  }

  // A message with fields of other types than the runner's is not the runner's.
  RunFailure failure_from_message(const Json& message, const std::string& stage) {
    auto failure = read_fields("the runner's message", [&] { return read_failure(message, stage); });
    return failure ? *failure : read_failure({{"event", "nonsense"}}, stage);
  }

  RunFailure read_failure(const Json& message, const std::string& stage) {
    const std::string event = message.value("event", "");
    std::string errors;
    if (event != "threw" && process) {
      if (event == "fault") process->kill();                        // it waits for the next order
      if (!process->wait_for(milliseconds(2000))) process->kill();  // after these the runner ends by itself
      auto outcome = process->finish();
      process.reset();
      runner_pid = 0;
      if (outcome) errors = outcome->err;
    }
    if (event == "crash") {
      if (auto followed = failure_from_device_pointer(message, spec, device, stage)) return *followed;
      return failure_from_crash(message, spec, regions, stage, errors);
    }
    if (event == "violation") return failure_from_violation(message.value("syscall", -1), stage);
    if (options.python && event == "fault") return failure_from_fault(message, stage);
    if (options.python && event == "operator") return failure_from_operator(message, stage);
    RunFailure failure;
    failure.errors = errors;
    failure.diagnosis.stage = stage;
    if (event == "threw") {
      failure.diagnosis.summary = "an exception left the kernel";
      failure.diagnosis.evidence.push_back(message.value("what", ""));
      failure.diagnosis.hint = "catch exceptions inside the kernel";
      if (message.value("what", "") == "std::bad_alloc") failure.verdict = Verdict::out_of_memory;
    } else if (event == "failed") {
      failure.diagnosis.summary = spec.opencl.empty() ? "the kernel could not be loaded" : "OpenCL refuses the kernel";
      failure.diagnosis.evidence.push_back(message.value("message", ""));
      failure.diagnosis.hint = !spec.opencl.empty()
                                   ? "see whether its scratch and __local memory fit"
                                   : "every function that the kernel calls must be in it, in libstdc++, libm or libgomp";
    } else {
      failure.verdict = Verdict::mistrusted;
      failure.diagnosis.summary = "the kernel spoke to the evaluator in the runner's place";
      failure.diagnosis.hint = "a kernel writes its outputs and nothing else";
    }
    return failure;
  }

  // Waits for one event; anything else is a failure.
  template <typename T, typename Read>
  Answered<T> await(const std::string& event, const std::string& stage, milliseconds limit, std::uint64_t ticket, Read read) {
    Answered<T> answered;
    bool late = false;
    auto message = receive(Clock::now() + limit, late);
    if (!message) {
      answered.failure = failure_at_end(stage, late, std::chrono::duration<double>(limit).count());
      return answered;
    }
    const Json sent = message->value("ticket", Json());
    const bool is_expected = message->at("event") == event && (ticket == 0 || (sent.is_number_unsigned() && sent == ticket));
    std::optional<T> value;
    if (is_expected) {
      auto fields = read_fields("the runner's message", [&] { return read(*message); });
      if (fields)
        value = std::move(*fields);
      else
        (*message)["event"] = "nonsense";
    } else if (message->value("event", "") == event) {
      (*message)["event"] = "nonsense";
    }
    if (value)
      answered.value = std::move(value);
    else {
      if (message->value("event", "") == "nonsense" && process) process->kill();
      answered.failure = failure_from_message(*message, stage);
    }
    return answered;
  }

  Status read_memory(std::uint64_t address, std::span<std::byte> into, const std::string& what) const {
    for (std::uint64_t done = 0; done < into.size();) {
      iovec local{into.data() + done, into.size() - done};
      iovec remote{reinterpret_cast<void*>(address + done), into.size() - done};
      const ssize_t got = ::process_vm_readv(runner_pid, &local, 1, &remote, 1, 0);
      if (got <= 0)
        return internal_error(fmt::format("cannot read {} from the runner: {}", what, std::strerror(errno)),
                              "the system forbids reading a child's memory (ptrace scope 3, or a container's seccomp profile)");
      done += static_cast<std::uint64_t>(got);
    }
    return {};
  }

  // Of the stopped process: its report is longer than a message may be.
  Result<GpuReport> gpu_report(const Json& told) const {
    std::uint64_t address = 0, bytes = 0;
    KW_TRY(GpuReport report, read_fields("the runner's message", [&] {
             GpuReport read;
             told.at("error").get_to(read.error);
             told.at("error_name").get_to(read.error_name);
             told.at("unwritten").get_to(read.unwritten);
             told.at("to_host").get_to(read.to_host);
             told.at("to_device").get_to(read.to_device);
             told.at("host_allocations").get_to(read.host_allocations);
             address = told.at("report").at(0).get<std::uint64_t>();
             bytes = told.at("report").at(1).get<std::uint64_t>();
             return read;
           }));
    if (bytes > kMostReport) return internal_error("the virtual GPU's report is too long", "use smaller shapes");
    report.lines.resize(bytes);
    KW_CHECK(read_memory(address, std::as_writable_bytes(std::span(report.lines)), "the virtual GPU's report"));
    return report;
  }

  bool has_unasked_message() {
    pollfd watched{control, POLLIN, 0};
    return ::poll(&watched, 1, 0) > 0 && (watched.revents & POLLIN) != 0;
  }

  // `inputs` are brought before it where they are not in the process yet: how long that takes is no part of the order. What goes on
  // with an earlier order has that one's deadline.
  std::optional<RunFailure> order(const Json& message, milliseconds limit, int inputs = -1) {
    if (!message.value("goes_on", false)) process->set_deadline(limit + milliseconds(5000));
    thaw();
    if (inputs >= 0 && inputs != shown) {
      const std::uint64_t ticket = new_ticket();
      if (auto failure = send({{"op", "show"}, {"ticket", ticket}}, files.inputs(inputs))) return failure;
      const auto brought = await<bool>("shown", "run", limit, ticket, [](const Json&) { return true; });
      if (!brought.ok()) return brought.failure;
      shown = inputs;
    }
    return send(message);
  }

  std::optional<RunFailure> send(const Json& message, int descriptor = -1) {
    if (has_unasked_message()) {
      process->kill();
      return failure_from_message({{"event", "nonsense"}}, "run");
    }
    const std::string text = message.dump();
    sent_at = Clock::now();
    send_order(control, text, descriptor);
    return std::nullopt;
  }

  // Comes back with the answer; never 0, and a double holds it.
  std::uint64_t new_ticket() { return tickets() >> 12 | 1; }

  // Nothing hostile is in the process yet.
  Answered<bool> rehearse(milliseconds limit) {
    order_seconds = 0;
    for (int i = 0; i < options.rehearsals; ++i) {
      const std::uint64_t ticket = new_ticket();
      if (auto failure = order({{"op", "rehearse"}, {"ticket", ticket}}, limit)) return {{}, *failure};
      auto rehearsed = await<bool>("rehearsed", "start", limit, ticket, [](const Json&) { return true; });
      if (!rehearsed.ok()) return rehearsed;
      const double seconds = std::chrono::duration<double>(received_at - sent_at).count();
      order_seconds = i == 0 ? seconds : std::min(order_seconds, seconds);
    }
    return {true, {}};
  }
};

void CallReport::append(CallReport next) {
  seconds.insert(seconds.end(), next.seconds.begin(), next.seconds.end());
  outside_seconds += next.outside_seconds;
  outside.insert(outside.end(), next.outside.begin(), next.outside.end());
  float_state_changed |= next.float_state_changed;
  if (next.gpu) gpu = std::move(next.gpu);
  late_seconds.insert(late_seconds.end(), next.late_seconds.begin(), next.late_seconds.end());
  if (next.watched) watched = std::move(next.watched);
}

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::create(const ProblemDescription& problem, const CompiledKernel& kernel, SessionOptions options) {
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  state->options.python = kernel.python;
  auto& spec = state->spec;
  spec.object = kernel.object;
  spec.threads = state->options.threads;
  spec.has_prepare = kernel.has_prepare;
  if (kernel.opencl) {
    spec.opencl = kernel.opencl->plan;
    state->opencl_files = kernel.opencl->files;
  }
  spec.guarded = !state->options.debug;
  spec.shared_weights = state->options.shared_weights;
  spec.out_slots = state->options.out_slots;
  for (const auto* argument : problem.arguments()) spec.arguments.push_back(argument_of(*argument, state->options.placement));
  if (const auto& gpu = state->options.gpu) spec.gpu = virtual_gpu_spec(*gpu, spec.threads);
  if (const auto& device = state->options.device) {
    if (!kernel.gpu || kernel.gpu->device_object.empty())
      return internal_error(fmt::format("the kernel was not built for {}", device->gpu.name));
    spec.object = kernel.gpu->device_object;
    spec.gpu.library = device->gpu.runtime;
    spec.gpu.real = true;
    spec.gpu.device = device->gpu.index;
    spec.gpu.flush_bytes = device->flush_bytes;
  }
  if (state->options.python) state->python = python_section(problem, *state->options.python, state->options.gpu);
  KW_TRY(state->files, SessionFiles::make(spec, state->options.slots));
  return Session(std::move(state));
}

std::span<std::byte> Session::contents(std::size_t argument, int slot) {
  const auto& spec = state_->spec;
  const auto& what = spec.arguments[argument];
  return {state_->files.region(spec, argument, slot) + what.lead, what.bytes};
}

void Session::set_own_weights(OwnWeights own) { state_->own_weights = own; }

Result<Answered<bool>> Session::launch(milliseconds deadline) {
  // Importing PyTorch takes seconds, many on a loaded machine.
  const milliseconds start_limit(state_->options.python ? 120000 : 30000);
  KW_CHECK(state_->start_process(deadline + 2 * start_limit));
  // Mapping is our own work: slow memory is no fault of the kernel's.
  auto mapped = state_->await<bool>("mapped", "start", start_limit, 0, [&](const Json& message) {
    message.at("addresses").get_to(state_->regions);
    message.at("device").get_to(state_->device);
    return true;
  });
  if (auto end = stopped_by_us(mapped)) return *end;
  if (!mapped.ok()) {
    std::string why = mapped.failure.diagnosis.summary;
    for (const auto& line : mapped.failure.diagnosis.evidence) why += "; " + line;
    return internal_error("the runner did not start: " + why, "run 'kernelwright doctor'");
  }
  const auto rehearsed = state_->rehearse(milliseconds(10000));
  if (auto end = stopped_by_us(rehearsed)) return *end;
  if (!rehearsed.ok()) return rehearsed;
  if (auto failure = state_->order({{"op", "load"}}, deadline + start_limit)) return Answered<bool>{{}, *failure};
  auto loading = state_->await<bool>("loading", "load", milliseconds(10000), 0, [](const Json&) { return true; });
  if (auto end = stopped_by_us(loading)) return *end;
  if (!loading.ok()) return loading;
  if (state_->options.python) deadline += milliseconds(30000);
  // OpenCL loads code by running it.
  auto loaded =
      state_->await<bool>("loaded", state_->spec.opencl.empty() ? "load" : "run", deadline, 0, [](const Json&) { return true; });
  if (auto end = stopped_by_us(loaded)) return *end;
  return loaded;
}

Result<Answered<PrepareReport>> Session::prepare(milliseconds deadline) {
  const std::uint64_t ticket = state_->new_ticket();
  Json seen, message{{"op", "prepare"}, {"ticket", ticket}};
  if (state_->options.python) {
    message.update({{"weights_seed", state_->own_weights.seed}, {"drawn_constants", state_->own_weights.drawn_constants}});
    deadline += milliseconds(30000);  // it builds the module
  }
  if (auto failure = state_->order(message, deadline)) return Answered<PrepareReport>{{}, *failure};
  auto answered = state_->await<PrepareReport>("prepared", "prepare", deadline, ticket, [&](const Json& message) {
    if (message.contains("gpu")) seen = message.at("gpu");
    return PrepareReport{
        message.at("seconds").get<double>(), message.at("bytes").get<double>(), message.value("seeded", false), {}};
  });
  if (auto end = stopped_by_us(answered)) return *end;
  if (const auto failure = answered.ok() ? failure_from_maps(state_->options.python, state_->runner_pid) : std::nullopt)
    return Answered<PrepareReport>{{}, *failure};
  if (answered.ok() && !seen.is_null()) {
    state_->freeze();
    KW_TRY(answered.value->gpu, state_->gpu_report(seen));
  }
  return answered;
}

Result<Answered<CallReport>> Session::call(std::span<const int> slots, std::span<const int> outs, bool poison,
                                           milliseconds deadline) {
  Answered<CallReport> all;
  all.value.emplace();
  const auto until = Clock::now() + deadline;
  for (std::size_t begin = 0, end = 0; begin < slots.size(); begin = end) {
    while (end < slots.size() && slots[end] == slots[begin]) ++end;
    Json message{{"op", "call"}, {"outs", outs.subspan(begin, end - begin)}, {"poison", poison}, {"goes_on", begin > 0}};
    const auto left = std::max(milliseconds(1), std::chrono::ceil<milliseconds>(until - Clock::now()));
    KW_TRY(auto some, order_calls(std::move(message), slots[begin], end - begin, left, end == slots.size()));
    if (!some.ok()) return some;
    all.value->append(std::move(*some.value));
  }
  return all;
}

Result<Answered<CallReport>> Session::burst(int calls, milliseconds deadline) {
  return order_calls({{"op", "burst"}, {"calls", calls}}, -1, 1, deadline);
}

double Session::order_seconds() const { return state_->order_seconds; }

// After the last order the process is stopped. Between orders it is not: it waits, and does not know which is the last.
Result<Answered<CallReport>> Session::order_calls(Json message, int inputs, std::size_t times, milliseconds deadline, bool last) {
  const std::uint64_t ticket = state_->new_ticket();
  const bool goes_on = message.value("goes_on", false);
  message["ticket"] = ticket;
  if (auto failure = state_->order(message, deadline, inputs)) {
    if (auto end = work_must_end()) return *end;
    return Answered<CallReport>{{}, *failure};
  }
  Json seen, watched;
  auto answered = state_->await<CallReport>("done", "run", deadline, ticket, [&](const Json& done) {
    CallReport report;
    if (done.contains("gpu") && !done.at("gpu").empty()) seen = done.at("gpu").back();
    if (done.contains("watched")) watched = done.at("watched");
    if (done.contains("late_nanoseconds"))
      for (const auto& late : done.at("late_nanoseconds")) report.late_seconds.push_back(late.get<double>() * 1e-9);
    for (const auto& nanoseconds : done.at("nanoseconds")) report.seconds.push_back(nanoseconds.get<double>() * 1e-9);
    report.float_state_changed = done.at("float_state_changed").get<bool>();
    if (report.seconds.size() != times) throw Json::other_error::create(505, "as many times as calls", nullptr);
    return report;
  });
  if (auto end = stopped_by_us(answered)) return *end;
  if (answered.ok()) {
    answered.value->outside_seconds = std::chrono::duration<double>(state_->received_at - state_->sent_at).count();
    answered.value->outside.assign(times, answered.value->outside_seconds / static_cast<double>(times));
    if (state_->options.python) {
      auto placed = state_->await<Answered<bool>>("outputs", "run", deadline, ticket, [&](const Json& outputs) {
        return state_->guest_outputs.take(outputs, state_->spec, goes_on);
      });
      if (auto end = stopped_by_us(placed)) return *end;
      if (!placed.ok()) return Answered<CallReport>{{}, placed.failure};
      if (!placed.value->ok()) return Answered<CallReport>{{}, placed.value->failure};
    }
    if (last || !seen.is_null()) state_->freeze();
    if (!watched.is_null()) {
      KW_TRY(answered.value->watched, watched_call(watched));
    }
    if (!seen.is_null()) {
      KW_TRY(answered.value->gpu, state_->gpu_report(seen));
    }
  }
  return answered;
}

Result<std::vector<std::byte>> Session::output(std::size_t argument, int out_slot, bool& canary_broken) {
  const auto& what = state_->spec.arguments[argument];
  if (state_->options.python) {
    canary_broken = false;
    std::vector<std::byte> values(what.bytes);
    const auto& addresses = state_->guest_outputs.of(out_slot);
    const std::size_t number = argument + addresses.size() - state_->spec.arguments.size();  // outputs come last
    if (number >= addresses.size()) return internal_error(fmt::format("the guest did not say where '{}' is", what.name));
    KW_CHECK(state_->read_memory(addresses[number], values, fmt::format("the output '{}'", what.name)));
    return values;
  }
  const std::uint64_t address = state_->regions.at(argument).at(static_cast<std::size_t>(out_slot));
  const auto read = [&](std::uint64_t offset, std::vector<std::byte>& into) {
    return state_->read_memory(address + offset, into, fmt::format("the output '{}'", what.name));
  };
  const std::uint64_t end = what.lead + what.bytes;
  std::vector<std::byte> values(what.bytes), before(what.lead), after(what.region - end);
  KW_CHECK(read(what.lead, values));
  KW_CHECK(read(0, before));
  KW_CHECK(read(end, after));
  const auto* poison = reinterpret_cast<const std::byte*>(&what.poison);
  canary_broken = false;
  for (std::uint64_t i = 0; i < before.size(); ++i) canary_broken |= before[i] != poison[i % 8];
  for (std::uint64_t i = 0; i < after.size(); ++i) canary_broken |= after[i] != poison[(end + i) % 8];
  return values;
}

bool Session::runs_in_the_background() {
  if (state_->runner_pid <= 0) return false;
  state_->thaw();
  return is_busy_unasked(state_->runner_pid);
}

Session::Printed Session::finish() {
  if (!state_->process) return {};
  state_->thaw();
  const std::string text = R"({"op":"end"})";
  (void)::send(state_->control, text.data(), text.size(), MSG_NOSIGNAL);
  if (!state_->process->wait_for(milliseconds(500))) state_->process->kill();
  auto outcome = state_->process->finish();
  state_->process.reset();
  state_->runner_pid = 0;
  if (!outcome) return {};
  return {outcome->out + outcome->err, outcome->output_truncated};
}

}  // namespace kw
