#include "measure/measure.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>

#include <fmt/format.h>

#include "base/duration.h"
#include "base/work_limit.h"
#include "dsl/elf_symbols.h"
#include "machine/machine_lock.h"
#include "machine/roofline.h"
#include "measure/gpu_estimate.h"
#include "measure/statistics.h"

namespace kw {
namespace {

using Clock = std::chrono::steady_clock;

double bytes_of(const std::vector<TensorSpec>& specs) {
  double total = 0;
  for (const auto& spec : specs) total += static_cast<double>(spec.span_bytes());
  return total;
}

// Where anonymous memory gets huge pages unasked, PyTorch's tensors do; the kernel's then have to be anonymous too.
bool huge_pages_are_automatic() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  return text.find("[always]") != std::string::npos;
}

class Timer {
 public:
  Timer(const ProblemDescription& problem, const TimingSets& sets, const Machine& machine, const OutputCheck& check,
        const MeasureOptions& options)
      : problem_(problem), sets_(sets), machine_(machine), check_(check), options_(options) {}

  Result<std::unique_ptr<KernelSubject>> subject(const Candidate& candidate) {
    note_memory(*candidate.kernel());
    SessionOptions session = session_options();
    session.shared_weights = !huge_pages_are_automatic();
    return KernelSubject::make(*candidate.kernel(), problem_, sets_, session,
                               call_deadline(sets_.sets.front(), options_.call_timeout), check_);
  }

  // Alternating pairs until the interval is narrow enough or the time is up. A failure ends it.
  Result<std::optional<RunFailure>> compare(Subject& baseline, Subject& candidate, const std::string& name) {
    std::vector<BlockPair> pairs;
    const auto start = Clock::now();
    Ratio ratio;
    for (;;) {
      const bool baseline_first = (pairs.size() / 2 + pairs.size()) % 2 == 0;  // A B, B A, B A, A B, ...
      const std::vector<int> order = draw_order();
      std::optional<std::vector<double>> times[2];
      for (const int turn : {0, 1}) {
        const bool is_baseline = (turn == 0) == baseline_first;
        KW_TRY(Block block, (is_baseline ? baseline : candidate).block(order, warmup()));
        if (!block.ok()) return std::optional(block.failure);
        times[is_baseline ? 0 : 1] = std::move(*block.value);
      }
      pairs.push_back({*times[0], *times[1]});
      if (ratio = speedup_of(pairs); pairs.size() <= 2 && ratio.value < options_.hopeless_below / (pairs.size() == 1 ? 2 : 1))
        break;
      if (pairs.size() % 4 != 0 && seconds_since(start) < options_.seconds_per_baseline) continue;
      ratio = speedup_of(pairs);
      const double half_width = (ratio.interval.high - ratio.interval.low) / 2;
      const bool enough = static_cast<int>(pairs.size()) >= options_.least_pairs;
      if (options_.progress)
        options_.progress(fmt::format("timing against {}: {:.2f}x after {} pairs", name, ratio.value, pairs.size()));
      if (enough && half_width <= options_.good_enough * ratio.value) break;
      const bool is_told = ratio.interval.low - 1 > 2 * half_width || 1 - ratio.interval.high > 2 * half_width;
      if (enough && is_told && half_width <= options_.told_enough * ratio.value) break;
      if (has_had_its_time(seconds_since(start), static_cast<int>(pairs.size()))) break;
    }
    Comparison comparison;
    comparison.baseline = name;
    comparison.speedup = ratio.value;
    comparison.interval = ratio.interval;
    comparison.pairs = static_cast<int>(pairs.size());
    std::vector<double> baseline_blocks, candidate_blocks;
    for (const auto& pair : pairs) {
      comparison.calls += static_cast<int>(pair.candidate.size());
      baseline_blocks.push_back(block_seconds(pair.baseline));
      candidate_blocks.push_back(block_seconds(pair.candidate));
      if (candidate_blocks.back() > 0)  // to four digits: it is kept with every kernel of a search
        comparison.ratios.push_back(std::round(baseline_blocks.back() / candidate_blocks.back() * 1e4) / 1e4);
    }
    comparison.baseline_seconds = median(baseline_blocks);
    comparison.candidate_seconds = median(candidate_blocks);
    candidate_times_.insert(candidate_times_.end(), candidate_blocks.begin(), candidate_blocks.end());
    timing_.comparisons.push_back(comparison);
    return std::optional<RunFailure>{};
  }

  // Calls on inputs that were just seen beside calls on new ones, with the same bytes rewritten before both: a kernel that
  // remembers answers is fast only on the former.
  Result<std::optional<RunFailure>> look_for_memory(const Candidate& candidate) {
    for (int attempt = 1; attempt <= kReplays; ++attempt) {
      KW_TRY(const auto alone, look_alone(candidate));
      if (!alone.ok()) return std::optional(alone.failure);
      alone_seconds_ = attempt == 1 ? alone.value->seconds : std::min(alone_seconds_, alone.value->seconds);
      if (alone.value->replay_ratio > kSuspiciousReplay) return std::optional<RunFailure>{};
      if (attempt < kReplays) continue;  // a stroke of bad luck is no proof
      RunFailure failure;
      failure.verdict = Verdict::mistrusted;
      failure.diagnosis = {"measure",
                           "the kernel remembers answers",
                           "",
                           {fmt::format("a call on inputs that it has just seen takes {:.0f}% of the time of a call on new ones",
                                        alone.value->replay_ratio * 100)},
                           "compute every call from its inputs; keep nothing between calls but what kw_prepare returns",
                           ""};
      return std::optional(failure);
    }
    return std::optional<RunFailure>{};
  }

  // In a block more inputs follow, and where they are no concern of a call it takes as long as one that none follow. Much quicker
  // is a kernel that has found them before their time, by a way that is not closed.
  Result<std::optional<RunFailure>> compare_with_calls_alone(const Candidate& candidate) {
    const double in_blocks = median(candidate_times_);
    for (int attempt = 0; attempt < kReplays && in_blocks < kSuspiciousBlock * alone_seconds_; ++attempt) {
      KW_TRY(const auto alone, look_alone(candidate));
      if (!alone.ok()) return std::optional(alone.failure);
      alone_seconds_ = std::min(alone_seconds_, alone.value->seconds);
    }
    if (in_blocks >= kSuspiciousBlock * alone_seconds_) return std::optional<RunFailure>{};
    RunFailure failure;
    failure.verdict = Verdict::mistrusted;
    failure.diagnosis = {"measure",
                         "calls are quick only where other inputs follow",
                         "",
                         {fmt::format("{:.3g} s a call in a block, {:.3g} s where one call is made and no inputs follow", in_blocks,
                                      alone_seconds_)},
                         "compute every call from its own inputs, in that call",
                         ""};
    return std::optional(failure);
  }

  Result<Measurement> finish(KernelSubject& subject) {
    const Workload workload{problem_.flops, problem_.bytes, problem_.essential_bytes};
    timing_.seconds = median(candidate_times_);
    timing_.threads = options_.threads;
    place_under_roofline(workload);
    timing_.gflops_per_second = problem_.flops && timing_.seconds > 0 ? *problem_.flops / timing_.seconds * 1e-9 : 0;
    timing_.gbytes_per_second = timing_.seconds > 0 ? problem_.bytes / timing_.seconds * 1e-9 : 0;
    std::vector<double> prepare_seconds, prepare_bytes;
    for (const auto& prepare : subject.prepares()) {
      prepare_seconds.push_back(prepare.seconds);
      prepare_bytes.push_back(prepare.bytes);
    }
    timing_.prepare_seconds = median(prepare_seconds);
    timing_.prepare_bytes = median(prepare_bytes);
    timing_.notes.push_back(fmt::format("outputs of {} timed calls were checked", subject.checked_calls()));
    if (auto doubt = too_fast(workload)) return Measurement{std::nullopt, Verdict::mistrusted, *doubt};
    KW_TRY(const auto failure, compare_clocks_of_blocks(subject));
    if (failure) return Measurement{std::nullopt, failure->verdict, failure->diagnosis};
    return Measurement{timing_, Verdict::passed, {}};
  }

 private:
  // Large weights are packed in each pair, which can take longer than its calls.
  [[nodiscard]] bool has_had_its_time(double seconds, int pairs) const {
    if (seconds >= 3 * options_.seconds_per_baseline) return pairs >= (options_.fewest_pairs + 1) / 2;
    return seconds >= options_.seconds_per_baseline && pairs >= options_.fewest_pairs;
  }

  // Of kernels in C++, which have no memory but their variables, outputs, and what kw_prepare returned.
  void note_memory(const CompiledKernel& kernel) {
    if (kernel.gpu || kernel.python || kernel.opencl) return;
    const auto own = elf_symbols(kernel.object);
    if (!own) return;
    timing_.memory_bytes = bytes_of(problem_.outputs) + own->variable_bytes + own->thread_bytes * options_.threads;
    timing_.eager_bytes = problem_.eager_bytes;
  }

  static constexpr double kSuspiciousReplay = 0.6;
  static constexpr double kSuspiciousBlock = 0.5;
  // What resuming a process that stood still may add to a call.
  static constexpr double kResuming = 3e-4;
  static constexpr int kReplays = 3;

  SessionOptions session_options() const {
    SessionOptions session;
    session.mode = options_.mode;
    session.threads = options_.threads;
    session.cores = options_.cores;
    if (options_.gpu) session.device = SessionDevice{options_.gpu->gpu, options_.gpu->gpu.flush_bytes()};
    return session;
  }

  void place_under_roofline(const Workload& workload) {
    if (options_.gpu) {
      const GpuRoofline roofline = roofline_on_gpu(problem_, options_.gpu->figures, options_.gpu->precision);
      timing_.gpu = options_.gpu->gpu.name;
      timing_.zone = roofline.zone;
      timing_.floor_seconds = roofline.floor_seconds;
      timing_.share_of_ceiling = timing_.seconds > 0 ? roofline.floor_seconds / timing_.seconds : 0;
      return;
    }
    const Roofline roofline = roofline_of(machine_, workload, options_.threads);
    timing_.zone = name_of(roofline.zone);
    timing_.floor_seconds = roofline.floor_seconds;
    timing_.share_of_ceiling = share_of_ceiling(roofline, timing_.seconds);
  }

  // What calls tell in a process that has one set of inputs at a time.
  struct Alone {
    double replay_ratio = 1;  // of a call on inputs that were just seen to one on new ones
    double seconds = 0;       // of a call, at the least
  };

  Result<Answered<Alone>> look_alone(const Candidate& candidate) const {
    KW_TRY(Session session, Session::create(problem_, *candidate.kernel(), session_options()));
    const auto deadline = call_deadline(sets_.sets.front(), options_.call_timeout);
    KW_CHECK(load_weights(session, problem_, sets_.sets.front()));
    KW_CHECK(load_inputs(session, problem_, sets_.sets.front(), 0));
    KW_TRY(const auto launched, session.launch(deadline));
    if (!launched.ok()) return Answered<Alone>{{}, launched.failure};
    KW_TRY(const auto prepared, session.prepare(deadline));
    if (!prepared.ok()) return Answered<Alone>{{}, prepared.failure};
    std::vector<double> ratios;
    double quickest = 1, quickest_new = 1e9, quickest_seen = 1e9;
    const int zero[] = {0};
    for (std::size_t i = 0; i < std::min<std::size_t>(sets_.sets.size(), 8); ++i) {
      double seconds[2];
      for (double& each : seconds) {
        KW_CHECK(load_inputs(session, problem_, sets_.sets[i], 0));
        KW_TRY(const auto called, session.call(zero, zero, false, deadline));
        if (!called.ok()) return Answered<Alone>{{}, called.failure};
        if (options_.gpu)
          if (const auto failure = failure_on_gpu(called.value->gpu, "run")) return Answered<Alone>{{}, *failure};
        each = called.value->seconds.front();
      }
      quickest = std::min(quickest, seconds[0]);
      if (i == 0) continue;  // the first pays for page faults
      ratios.push_back(seconds[1] / std::max(seconds[0], 1e-9));
      quickest_new = std::min(quickest_new, seconds[0]);
      quickest_seen = std::min(quickest_seen, seconds[1]);
    }
    double in_a_row = 0;
    KW_TRY(const auto clocks, options_.gpu ? compare_clocks_of_gpu(session, quickest, deadline)
                                           : compare_clocks(session, quickest, deadline, in_a_row));
    if (clocks) return Answered<Alone>{{}, *clocks};
    session.finish();
    // Short calls take longer after a pause; those in a row do not, and the clock outside has confirmed them.
    const double alone = options_.gpu ? 0 : std::max(quickest_new - kResuming, in_a_row);
    // Large problems have few sets, and on a loaded machine a few calls may all have been disturbed: the quickest ones tell, too.
    return Answered<Alone>{{{std::max(median(ratios), quickest_seen / std::max(quickest_new, 1e-9)), alone}}, {}};
  }

  // One order of so many calls that starting and ending it weighs nothing: by the clock outside they may not take much longer
  // than by the clock that shares a process with the kernel.
  static Result<std::optional<RunFailure>> compare_clocks(Session& session, double seconds_of_a_call,
                                                          std::chrono::milliseconds deadline, double& in_a_row) {
    double least = 1;
    std::size_t calls = 0;
    for (const double order_seconds : kOrderSeconds) {
      calls = calls_within(order_seconds, seconds_of_a_call);
      const std::vector<int> order(calls, 0);
      KW_TRY(const auto called, session.call(order, order, false, deadline * static_cast<int>(calls)));
      if (!called.ok()) return std::optional(called.failure);
      const double inside = std::accumulate(called.value->seconds.begin(), called.value->seconds.end(), 0.0);
      in_a_row = block_seconds(called.value->seconds);
      const double unaccounted = called.value->outside_seconds - inside - 1e-6 * static_cast<double>(calls) - 5e-4;
      least = std::min(least, unaccounted / called.value->outside_seconds);
      if (least < 0.15) return std::optional<RunFailure>{};
    }
    return std::optional(clocks_disagree(
        fmt::format("of {} calls in a row, {:.0f}% of the time passed outside of them by the runner's clock", calls, least * 100)));
  }

  // The same on a GPU: many calls in a row between two events. A call that is timed alone may take less than its share of them,
  // because the host makes its launches ready while caches are flushed; not half of it, beyond that.
  Result<std::optional<RunFailure>> compare_clocks_of_gpu(Session& session, double seconds_of_a_call,
                                                          std::chrono::milliseconds deadline) const {
    const double flush = static_cast<double>(options_.gpu->gpu.flush_bytes()) / (options_.gpu->figures.memory_gb_per_s * 1e9);
    const double seconds = seconds_of_a_call + 2 * flush;
    double unaccounted = 1, each = 0;
    std::size_t calls = 0;
    for (const double order_seconds : kOrderSeconds) {
      calls = calls_within(order_seconds, seconds_of_a_call);
      KW_TRY(const auto called, session.burst(static_cast<int>(calls), deadline * static_cast<int>(calls)));
      if (!called.ok()) return std::optional(called.failure);
      if (auto failure = failure_on_gpu(called.value->gpu, "run")) return failure;
      const double inside = called.value->seconds.front();
      unaccounted = std::min(unaccounted, (called.value->outside_seconds - inside - 5e-4) / called.value->outside_seconds);
      each = inside / static_cast<double>(calls);
      if (unaccounted < 0.15 && each < 2 * seconds) return std::optional<RunFailure>{};
    }
    if (unaccounted >= 0.15)
      return std::optional(clocks_disagree(fmt::format(
          "of {} calls in a row, {:.0f}% of the time passed outside of them by the GPU's clock", calls, unaccounted * 100)));
    return std::optional(clocks_disagree(
        fmt::format("{} calls in a row take {:.3g} s each, a call that is timed {:.3g} s", calls, each, seconds_of_a_call)));
  }

  // The same for the blocks that were timed, by their median, as the speedup is: bending the clock in fewer blocks than half
  // changes nothing. On a loaded machine a short block can spend as long waiting for its cores, before its first call and
  // after its last, as in its calls: longer ones tell.
  Result<std::optional<RunFailure>> compare_clocks_of_blocks(KernelSubject& subject) {
    if (median(subject.unaccounted_shares()) <= kMostUnaccounted) return std::optional<RunFailure>{};
    const std::size_t timed = subject.unaccounted_shares().size();
    for (const double block_seconds : {0.1, 0.3, 0.3}) {
      std::vector<int> order = draw_order();
      const std::size_t once = order.size();
      order.resize(std::max(once, calls_within(block_seconds, timing_.seconds)));
      for (std::size_t i = once; i < order.size(); ++i) order[i] = order[i - once];
      KW_TRY(const Block block, subject.block(order, warmup()));
      if (!block.ok()) return std::optional(block.failure);
    }
    const auto& shares = subject.unaccounted_shares();
    const double longer = median({shares.begin() + static_cast<std::ptrdiff_t>(timed), shares.end()});
    if (longer <= kMostUnaccounted) return std::optional<RunFailure>{};
    const int percent = static_cast<int>(std::lround(longer * 100));
    if (options_.gpu)
      return std::optional(
          clocks_disagree(fmt::format("in most blocks the GPU works on for {}% of the time when the stream is done", percent)));
    return std::optional(clocks_disagree(
        fmt::format("in most blocks at least {}% of the time passed outside of the calls by the runner's clock", percent)));
  }
  static constexpr double kMostUnaccounted = 0.1;

  // One short look is enough where the machine is quiet; the longer ones come only after it.
  static constexpr double kOrderSeconds[] = {0.03, 0.03, 0.1, 0.3, 0.3};
  static std::size_t calls_within(double seconds, double seconds_of_a_call) {
    return static_cast<std::size_t>(std::clamp(seconds / std::max(seconds_of_a_call, 1e-7), 1.0, 4000.0));
  }

  static RunFailure clocks_disagree(std::string evidence) {
    RunFailure failure;
    failure.verdict = Verdict::mistrusted;
    failure.diagnosis = {"measure",
                         "two clocks disagree on how long the calls took",
                         "",
                         {std::move(evidence)},
                         "the kernel must finish all its work before it returns and leave clocks alone",
                         ""};
    return failure;
  }

  int warmup() const { return sets_.sets.size() >= 8 ? 2 : 1; }

  // Warm-up and timed calls, each on other inputs; how many varies, so that no call knows that it is the last.
  std::vector<int> draw_order() {
    std::vector<int> order(sets_.sets.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    std::shuffle(order.begin(), order.end(), random_);
    const auto most = order.size();
    const auto least = std::min<std::size_t>(
        most, static_cast<std::size_t>(warmup()) + std::max<std::size_t>(1, (most - static_cast<std::size_t>(warmup())) * 2 / 3));
    order.resize(std::uniform_int_distribution<std::size_t>(least, most)(random_));
    return order;
  }

  std::optional<Diagnosis> too_fast(const Workload& workload) const {
    const double physical = physical_floor(workload);
    if (timing_.seconds < 0.6 * physical)
      return Diagnosis{"measure",
                       "faster than the machine can move the bytes that the output depends on",
                       "",
                       {fmt::format("{:.3g} s a call, but {:.3g} MB at this machine's ceiling take {:.3g} s", timing_.seconds,
                                    workload.essential_bytes * 1e-6, physical)},
                       "some calls do not do their work; or measure the ceilings again with 'kernelwright doctor --refresh'",
                       ""};
    return std::nullopt;
  }

  // A GPU's last cache may keep what was written, and does not write it to memory within the call.
  double physical_floor(const Workload& workload) const {
    if (!options_.gpu) return memory_floor_seconds(machine_, workload, options_.threads);
    const vgpu::GpuSheet& figures = options_.gpu->figures;
    return std::max(0.0, workload.essential_bytes - static_cast<double>(figures.l2_bytes)) / (figures.memory_gb_per_s * 1e9);
  }

  const ProblemDescription& problem_;
  const TimingSets& sets_;
  const Machine& machine_;
  const OutputCheck& check_;
  const MeasureOptions& options_;
  TimingRecord timing_;
  std::vector<double> candidate_times_;
  double alone_seconds_ = 0;
  std::mt19937_64 random_{std::random_device{}()};
};

Measurement failed(const RunFailure& failure) { return {std::nullopt, failure.verdict, failure.diagnosis}; }

Result<MachineLock> lock_machine(const MeasureOptions& options) {
  LockWait wait;
  wait.on_wait = [&](std::chrono::milliseconds) {
    if (options.progress) options.progress("waiting for another timing on this machine");
    return true;
  };
  return MachineLock::acquire(wait);
}

// Loads a baseline and compares with it.
Result<std::optional<RunFailure>> time_against(Timer& timer, KernelSubject& kernel, const Candidate& candidate,
                                               const std::string& name, const ProblemDescription& problem, const TimingSets& sets,
                                               OracleClient& oracle, const MeasureOptions& options) {
  if (options.progress) options.progress(fmt::format("loading the baseline: {}", name));
  KW_TRY(const auto baseline, OracleSubject::make(oracle, problem.file, sets, name, options.threads, options.gpu));
  KW_TRY(const MachineLock lock, lock_machine(options));
  KW_TRY(auto failure, timer.compare(*baseline, kernel, name));
  if (failure) return failure;
  return timer.compare_with_calls_alone(candidate);
}

}  // namespace

int timing_set_count(const ProblemDescription& problem) {
  const double bytes = std::max(1.0, bytes_of(problem.inputs) + bytes_of(problem.outputs));
  return static_cast<int>(std::clamp(64e6 / bytes, 4.0, 24.0));
}

Result<TimingSets> timing_sets(const ProblemDescription& problem, const TensorStore& store, std::uint64_t draw,
                               OracleClient& oracle) {
  TimingSets timing;
  for (int i = 0; i < timing_set_count(problem); ++i) {
    KW_TRY(TensorSet set, store.get(draw, {"given", false, i + 1}, oracle));
    timing.sets.push_back(std::move(set));
  }
  // As many as fit, so that most calls of a block can be looked at afterwards; at least those of a short block.
  const double fitting = 64e6 / std::max(1.0, bytes_of(problem.outputs));
  timing.outputs_alive = static_cast<int>(std::clamp(fitting, 3.0, static_cast<double>(timing.sets.size())));
  return timing;
}

Result<std::optional<RunFailure>> check_timed_calls(const Candidate& candidate, const ProblemDescription& problem,
                                                    const TimingSets& sets, const Machine& machine, const OutputCheck& check,
                                                    const MeasureOptions& options) {
  Timer timer(problem, sets, machine, check, options);
  KW_TRY(auto kernel, timer.subject(candidate));
  std::vector<int> order(sets.sets.size());
  std::iota(order.begin(), order.end(), 0);
  KW_TRY(const Block block, kernel->block(order, 0));
  return block.ok() ? std::optional<RunFailure>{} : std::optional(block.failure);
}

Result<Measurement> measure(const Candidate& candidate, const ProblemDescription& problem, const TimingSets& sets,
                            const Machine& machine, OracleClient& oracle, const OutputCheck& check, const MeasureOptions& options) {
  Timer timer(problem, sets, machine, check, options);
  KW_TRY(auto kernel, timer.subject(candidate));
  {
    KW_TRY(const MachineLock lock, lock_machine(options));
    if (options.progress) options.progress("looking whether the kernel remembers answers");
    KW_TRY(const auto remembers, timer.look_for_memory(candidate));
    if (remembers) return failed(*remembers);
  }
  if (options.eager) {
    KW_TRY(const auto failure, time_against(timer, *kernel, candidate, "eager", problem, sets, oracle, options));
    if (failure) return failed(*failure);
  }
  std::vector<std::string> notes;
  if (options.compile) {
    const auto failure = time_against(timer, *kernel, candidate, "compile", problem, sets, oracle, options);
    if (failure && *failure) return failed(**failure);
    // Loading it can take longer than all else: where the time ends meanwhile, what was timed against eager is a result.
    if (!failure && failure.error().kind == ErrorKind::stopped && (!options.eager || work_was_interrupted()))
      return failure.error();
    if (!failure) notes.push_back("torch.compile is no baseline here: " + failure.error().message);
  }
  KW_TRY(Measurement measurement, timer.finish(*kernel));
  if (measurement.timing) measurement.timing->notes.insert(measurement.timing->notes.end(), notes.begin(), notes.end());
  return measurement;
}

Result<Measurement> measure_briefly(Subject& baseline, const std::string& name, const Candidate& candidate,
                                    const ProblemDescription& problem, const TimingSets& sets, const Machine& machine,
                                    const OutputCheck& check, const MeasureOptions& options) {
  Timer timer(problem, sets, machine, check, options);
  KW_TRY(auto kernel, timer.subject(candidate));
  KW_TRY(const MachineLock lock, lock_machine(options));
  KW_TRY(const auto failure, timer.compare(baseline, *kernel, name));
  if (failure) return failed(*failure);
  return timer.finish(*kernel);
}

Result<Measurement> measure_kernels(const Candidate& baseline, const Candidate& candidate, const ProblemDescription& problem,
                                    const TimingSets& sets, const Machine& machine, const OutputCheck& check,
                                    const MeasureOptions& options) {
  Timer timer(problem, sets, machine, check, options);
  KW_TRY(auto first, timer.subject(baseline));
  KW_TRY(auto second, timer.subject(candidate));
  KW_TRY(const MachineLock lock, lock_machine(options));
  KW_TRY(const auto remembers, timer.look_for_memory(candidate));
  if (remembers) return failed(*remembers);
  KW_TRY(const auto failure, timer.compare(*first, *second, baseline.source().file));
  if (failure) return failed(*failure);
  KW_TRY(const auto ahead, timer.compare_with_calls_alone(candidate));
  if (ahead) return failed(*ahead);
  return timer.finish(*second);
}

}  // namespace kw
