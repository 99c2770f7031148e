#include "verify/verify_gpu.h"

#include <algorithm>
#include <chrono>
#include <set>

#include <fmt/format.h>

#include "base/duration.h"
#include "dsl/session_tensors.h"
#include "problem/smaller_problem.h"
#include "verify/check.h"
#include "verify/counted_call.h"
#include "verify/gpu_findings.h"
#include "vgpu/gpu_sheet.h"
#include "vgpu/surroundings.h"

namespace kw {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// What a search spends on more than the first kind of input; and what one call may take.
constexpr double kBriefSeconds = 6, kCallSeconds = 300;
// Of a verification's time, what goes to calls with all checks; the others only have to give right results, in a third of the time.
constexpr double kCheckedShare = 0.6;
// However long calls take, so many kinds of inputs are tried: a kernel that is right for one may know that one.
constexpr std::size_t kFewestKinds = 2;
// Kinds on which overflow, cancellation and a limit that is passed show; not all of it shows at reduced shapes. Each gets a sample
// of its own at full ones: so much of a verification's time for all of them, and at least so many seconds each.
constexpr std::size_t kTellingKinds[] = {5, 7, 4, 3};
constexpr double kTellingSample = 0.4, kLeastSample = 0.5;
// A launch that takes longer with all checks is a sample of its blocks, and the kernel is tried at reduced shapes.
constexpr double kBriefSample = 4, kSampleShare = 0.3;
constexpr double kCostOfChecks = 3;
// Multiply-adds and elements of a reduced problem: about a second with all checks.
constexpr double kReducedWork = 1 << 24;

// Indices into verification_kinds(), the most telling first; the problem's own inputs and their neighbours again at the end.
std::vector<std::size_t> order_of_kinds(bool brief) {
  if (brief) return {0, 3};
  return {0, 3, 5, 2, 4, 10, 6, 7, 8, 9, 0, 1};
}

// What is run: a kernel at some shapes.
struct Subject {
  const ProblemDescription& problem;
  const TensorStore& store;
  const CompiledKernel& kernel;
  std::string reduced;  // "N 4096 -> 256"; empty: full shapes
};

// How it is run.
struct Manner {
  bool checks = true;
  double sample_seconds = 0;  // of a launch, with more it is a sample; 0: all of it
  std::size_t fewest = 1;     // kinds of inputs that are tried however long they take
  bool of_samples = false;    // goes on after a sample that told something
};

class GpuVerifier {
 public:
  GpuVerifier(Candidate& candidate, const ProblemDescription& problem, const TensorStore& store, OracleClient& oracle,
              const VerifyOptions& options)
      : candidate_(candidate), problem_(problem), store_(store), oracle_(oracle), options_(options) {}

  Result<Verification> run() {
    KW_TRY(sheet_, vgpu::load_gpu_sheet(options_.gpu.empty() ? vgpu::kDefaultGpu : std::string_view(options_.gpu)));
    record_.sandbox = sandbox::name_of(options_.mode);
    record_.precision = options_.precision;
    say("compiling");
    KW_TRY(const CompileOutcome compiled, candidate_.compile(problem_, compile_options()));
    if (!compiled.kernel) {
      fail(compiled.verdict, compiled.diagnosis);
      return finished();
    }
    record_.compile_seconds = compiled.kernel->seconds;
    draw_ = options_.draw ? *options_.draw : store_.pick_draw(options_.fresh);
    record_.verdict = Verdict::passed;
    KW_CHECK(sit());
    return finished();
  }

 private:
  void say(std::string_view text) const {
    if (options_.progress) options_.progress(text);
  }
  void fail(Verdict verdict, Diagnosis diagnosis) {
    record_.verdict = verdict;
    record_.diagnosis = std::move(diagnosis);
  }
  void remember_note(const std::string& note) {
    if (std::find(record_.notes.begin(), record_.notes.end(), note) == record_.notes.end()) record_.notes.push_back(note);
  }
  [[nodiscard]] CompileOptions compile_options() const {
    CompileOptions compile = CompileOptions::within(options_.compile_timeout, options_.mode);
    compile.gpu = options_.gpu;
    compile.device = options_.device;
    return compile;
  }
  [[nodiscard]] double call_seconds() const { return options_.call_timeout.value_or(kCallSeconds); }
  [[nodiscard]] milliseconds deadline() const { return milliseconds(static_cast<long long>((call_seconds() + 5) * 1000)); }

  // False: the verdict is settled.
  bool settle(const Subject& subject, Verdict verdict, Diagnosis diagnosis, const TensorSet& set) {
    diagnosis.evidence.push_back(fmt::format("inputs: {}, {} weights, on a virtual GPU", set.distribution, weights_of(set)));
    if (!subject.reduced.empty()) diagnosis.evidence.push_back(fmt::format("at reduced shapes: {}", subject.reduced));
    if (const std::size_t before = record_.checks.size(); before > 0 && diagnosis.stage != "compare")
      diagnosis.evidence.push_back(fmt::format("{} earlier check{} passed", before, before == 1 ? "" : "s"));
    fail(verdict, std::move(diagnosis));
    return false;
  }

  Result<bool> looks_right(const Subject& subject, const std::optional<GpuReport>& report, bool in_prepare, const TensorSet& set) {
    if (!report) return true;
    KW_TRY(const GpuJudgement judged, judge_gpu_report(*report, candidate_.source().file, in_prepare));
    pending_ = judged.notes;
    sample_ = judged.sample;
    return judged.verdict == Verdict::passed ? true : settle(subject, judged.verdict, judged.diagnosis, set);
  }

  Result<bool> call_and_check(const Subject& subject, Session& session, const TensorSet& set, bool checks) {
    const ProblemDescription& problem = subject.problem;
    KW_CHECK(load_inputs(session, problem, set, 0));
    KW_CHECK(load_weights(session, problem, set));
    const auto start = Clock::now();
    KW_TRY(auto prepared, session.prepare(deadline()));
    if (!prepared.ok()) return settle(subject, prepared.failure.verdict, prepared.failure.diagnosis, set);
    KW_TRY(const bool prepared_well, looks_right(subject, prepared.value->gpu, true, set));
    if (!prepared_well) return false;
    const int zero[] = {0};
    KW_TRY(auto called, session.call(zero, zero, true, deadline()));
    record_.run_seconds += seconds_since(start);
    if (!called.ok()) return settle(subject, called.failure.verdict, called.failure.diagnosis, set);
    if (options_.gpu_counters && counted_.empty()) counted_ = called.value->gpu->lines;
    KW_TRY(const bool ran_well, looks_right(subject, called.value->gpu, false, set));
    if (!ran_well) return false;
    sample_compared_ = true;
    if (sample_.is_sample) {
      KW_TRY(sample_compared_, sample_is_final(sample_, *subject.kernel.gpu));
      if (!sample_compared_) return true;
    }
    const auto comparing = Clock::now();
    KW_TRY(CheckOutcome checked,
           check_outputs(session, problem, set, 0, options_.precision, nearby_noise_of(subject.store, oracle_),
                         sample_.is_sample ? Compared::written : Compared::all));
    if (checked.heard_again) remember_note(std::string(kHeardAgain));
    record_.compare_seconds += seconds_since(comparing);
    checked.result.threads = options_.threads;
    if (checked.verdict != Verdict::passed) {
      const bool settled = settle(subject, checked.verdict, checked.diagnosis, set);
      record_.checks.push_back(checked.result);
      return settled;
    }
    record_.checks.push_back(checked.result);
    written_share_ = written_share_of(checked);
    if (sample_.is_sample) sample_compared_ = sample_tells(sample_, written_share_);
    for (const std::string& note : pending_) remember_note(note);  // they say that the outputs are right
    // Memory of the device is closed to code on the host; should it find a way in, the values did not come from a kernel.
    const bool whole = checks && !sample_.is_sample;
    for (std::size_t i = 0; whole && i < problem.outputs.size() && i < called.value->gpu->unwritten.size(); ++i)
      if (const std::uint64_t bytes = called.value->gpu->unwritten[i]; bytes > 0)
        return settle(
            subject, Verdict::mistrusted,
            {"run",
             fmt::format("{} bytes of '{}' are right although nothing on the device wrote them", bytes, problem.outputs[i].name),
             "",
             {},
             "compute in a __global__ function",
             ""},
            set);
    return true;
  }

  Result<Session> open_session(const Subject& subject, const Manner& manner) {
    const CompiledKernel& kernel = subject.kernel;
    SessionOptions session_options;
    session_options.mode = options_.mode;
    session_options.threads = options_.threads;
    session_options.cores = options_.cores;
    session_options.passive_waits = true;
    session_options.gpu = SessionGpu{*kernel.gpu,    manner.checks,         manner.checks && options_.gpu_counters,
                                     call_seconds(), manner.sample_seconds, vgpu::mixed(draw_, sessions_++)};
    KW_TRY(Session session, Session::create(subject.problem, kernel, session_options));
    KW_TRY(const auto launched, session.launch(deadline()));
    if (!launched.ok()) fail(launched.failure.verdict, launched.failure.diagnosis);
    return session;
  }

  [[nodiscard]] double budget() const { return options_.brief ? kBriefSeconds : options_.gpu_seconds; }
  [[nodiscard]] std::string kinds_in_words(std::size_t kinds) const {
    return fmt::format("{} of {} kinds of inputs", kinds, verification_kinds().size());
  }

  // What one session did.
  struct Sat {
    std::size_t kinds = 0;
    double longest = 0;  // seconds of a call
    GpuSample sample;    // of the call that ended it, where that was one
    [[nodiscard]] bool is_sample() const { return kinds == 0 && sample.is_sample; }
    // What a call with all of its blocks would take.
    [[nodiscard]] double whole_seconds() const {
      return longest * static_cast<double>(sample.blocks) / static_cast<double>(std::max<std::uint64_t>(sample.blocks_run, 1));
    }
  };

  // Every kind of input with all checks: at full shapes as long as there is time, then at reduced ones. At full shapes without
  // checks where a kernel cannot be tried there, and once where what blocks wrote at full shapes could not be compared.
  Status sit() {
    const Subject full{problem_, store_, *candidate_.kernel(), ""};
    std::vector<std::size_t> left = order_of_kinds(options_.brief);
    const Manner with_checks{true, options_.brief ? kBriefSample : std::max(kBriefSample, kSampleShare * budget())};
    KW_TRY(const Sat checked, sit(full, with_checks, left, options_.brief ? budget() : kCheckedShare * budget()));
    if (record_.verdict != Verdict::passed) return {};
    std::string done = in_words(checked);
    const bool compared = !checked.is_sample() || sample_compared_;
    const bool enough = options_.brief ? compared : left.empty() && !checked.is_sample();
    if (compared && !enough) KW_CHECK(try_telling_kinds(full, left, checked.is_sample(), done));
    if (record_.verdict != Verdict::passed) return {};
    if (!enough) {
      KW_TRY(const Reduced reduced, try_reduced());
      if (record_.verdict != Verdict::passed) return {};
      done += "; " + reduced.words;
      // What the playbook wrote for other shapes has no other mind at full ones; of any other kernel something is compared there.
      const bool fits = checked.whole_seconds() / kCostOfChecks <= budget();
      if (!reduced.passed || (!compared && (fits || !candidate_.is_rewritten()))) {
        if (checked.is_sample()) left = order_for_few();
        if (options_.brief) left.resize(1);
        const std::size_t fewest = kFewestKinds - std::min(checked.kinds, kFewestKinds);
        KW_TRY(const Sat unchecked, sit(full, {false, 0, fewest}, left, budget()));
        if (record_.verdict == Verdict::timed_out) {
          record_.diagnosis.evidence.push_back(done);
          record_.diagnosis.hint =
              reduced.passed ? "give more time with --timeout, or write the outputs in one launch and without atomics: then those "
                               "of a few blocks can be compared"
                             : "write the kernel in terms of problem.h, so that it can be verified at reduced shapes, or give "
                               "more time with --timeout";
        }
        if (record_.verdict != Verdict::passed) return {};
        done += "; without checks, " + in_words(unchecked);
      }
    }
    // Last, because it is the only claim about how much was done.
    remember_note(fmt::format("verified on a virtual {} with all checks: {}", sheet_.name, done));
    return {};
  }

  // The problem's own inputs, then one of the telling kinds, whichever the draw says, and the others.
  [[nodiscard]] std::vector<std::size_t> order_for_few() const {
    std::vector<std::size_t> order = order_of_kinds(options_.brief);
    if (options_.brief) return order;
    const std::size_t first = vgpu::mixed(draw_, 1) % std::size(kTellingKinds);
    for (std::size_t i = 0; i < std::size(kTellingKinds); ++i) {
      const std::size_t kind = kTellingKinds[(first + i) % std::size(kTellingKinds)];
      order.erase(std::find(order.begin(), order.end(), kind));
      order.insert(order.begin() + 1 + static_cast<std::ptrdiff_t>(i), kind);
    }
    return order;
  }

  // What there was no time for at full shapes: the telling kinds, on samples, whose blocks are others each time. Where a sample
  // tells nothing and a whole call has not taken too long before, on whole calls without checks.
  Status try_telling_kinds(const Subject& full, const std::vector<std::size_t>& left, bool in_samples, std::string& done) {
    std::vector<std::size_t> telling;
    for (const std::size_t kind : order_for_few())
      if (std::find(std::begin(kTellingKinds), std::end(kTellingKinds), kind) != std::end(kTellingKinds) &&
          std::find(left.begin(), left.end(), kind) != left.end())
        telling.push_back(kind);
    if (telling.empty() || options_.brief) return {};
    const double each = std::max(kLeastSample, kTellingSample * budget() / static_cast<double>(std::size(kTellingKinds)));
    KW_TRY(const Sat sampled, sit(full, {true, each, telling.size(), true}, telling, budget()));
    if (record_.verdict != Verdict::passed) return {};
    if (sampled.kinds > 0) done += fmt::format("; {} more, each on a sample of its blocks", sampled.kinds);
    if (telling.empty() || in_samples) return {};
    KW_TRY(const Sat unchecked, sit(full, {false, 0, 1}, telling, budget()));
    if (record_.verdict == Verdict::passed) done += "; without checks, " + in_words(unchecked);
    return {};
  }

  // What was run at full shapes.
  [[nodiscard]] std::string in_words(const Sat& sat) const {
    if (!sat.is_sample()) return fmt::format("{} at full shapes, {:.2g} s a call", kinds_in_words(sat.kinds), sat.longest);
    return fmt::format("{} of {} blocks of a call at full shapes, {}", sat.sample.blocks_run, sat.sample.blocks,
                       sample_compared_ ? fmt::format("which wrote {:.2g}% of the outputs as they should", written_share_ * 100)
                                        : "whose outputs are not final, or too few, and tell nothing");
  }

  struct Reduced {
    bool passed = false;
    std::string words;  // what was run, or why nothing was that tells
  };

  // A kernel whose author writes it for any shapes has to hold at reduced ones; the text of another may have its own shapes in it,
  // so that failing there is no fault.
  Result<Reduced> try_reduced() {
    const auto not_there = [](std::string_view why) { return Reduced{false, fmt::format("not at reduced shapes: {}", why)}; };
    say("looking for reduced shapes");
    KW_TRY(const ReducedProblem reduced, reduced_problem(store_.source(), kReducedWork, oracle_));
    if (!reduced.source) return not_there(reduced.words);
    auto sister = candidate_.for_shapes_of(reduced.source->description);
    if (!sister) return not_there(sister.error().message);
    say(fmt::format("compiling for reduced shapes: {}", reduced.words));
    CompileOptions compile = compile_options();
    compile.device.reset();  // nothing is timed at these shapes
    KW_TRY(const CompileOutcome compiled, sister->compile(reduced.source->description, compile));
    if (!compiled.kernel)
      return not_there(fmt::format("{} ({}): {}", name_of(compiled.verdict), reduced.words, compiled.diagnosis.summary));
    const TensorStore store(*reduced.source, options_.precision);
    const Subject subject{reduced.source->description, store, *sister->kernel(), reduced.words};
    std::vector<std::size_t> left = order_of_kinds(options_.brief);
    const VerdictRecord before = record_;
    record_.run_seconds = 0;
    KW_TRY(const Sat sat, sit(subject, {true, 0}, left, budget()));
    record_.run_seconds += before.run_seconds;
    if (record_.verdict == Verdict::passed)
      return Reduced{true,
                     fmt::format("{} at reduced shapes ({}{}), {:.2g} s a call", kinds_in_words(sat.kinds), reduced.words,
                                 candidate_.is_rewritten() ? ", written for them with the same strategies" : "", sat.longest)};
    if (candidate_.is_rewritten()) return Reduced{};
    const Reduced failed =
        not_there(fmt::format("{} there ({}): {}", name_of(record_.verdict), reduced.words, record_.diagnosis.summary));
    record_ = before;
    return failed;
  }

  // Calls on the kinds that are left, in one process, within so many seconds of calls in all; what was tried is left no more.
  Result<Sat> sit(const Subject& subject, const Manner& manner, std::vector<std::size_t>& left, double seconds) {
    KW_TRY(Session session, open_session(subject, manner));
    if (record_.verdict != Verdict::passed) return Sat{};
    Sat sat;
    std::set<std::size_t> seen;
    while (!left.empty()) {
      const std::size_t kind = left.front();
      if (seen.size() >= manner.fewest && record_.run_seconds + sat.longest > seconds) break;
      left.erase(left.begin());
      say(fmt::format("inputs: {}", verification_kinds()[kind].distribution));
      KW_TRY(const TensorSet set, subject.store.get(draw_, verification_kinds()[kind], oracle_));
      for (const auto& note : set.notes) remember_note(note);
      if (set.nonfinite > 0.5) {
        remember_note(fmt::format("inputs '{}' were left out: {:.0f}% of the reference is not finite", set.distribution,
                                  set.nonfinite * 100));
        continue;
      }
      say(fmt::format("running on a virtual {}{}: {}", sheet_.name, subject.reduced.empty() ? "" : " at reduced shapes",
                      set.distribution));
      const auto start = Clock::now();
      KW_TRY(const bool right, call_and_check(subject, session, set, manner.checks));
      sat.longest = std::max(sat.longest, seconds_since(start));
      sat.sample = sample_;
      if (!right) return sat;
      if (sample_.is_sample && !(manner.of_samples && sample_compared_)) {
        if (manner.of_samples) left.insert(left.begin(), kind);
        break;
      }
      seen.insert(kind);
      sat.kinds = seen.size();
    }
    if (session.runs_in_the_background()) {
      fail(Verdict::mistrusted, {"run",
                                 "the kernel keeps computing after it has returned",
                                 "",
                                 {},
                                 "all work ends before the call does: no thread may stay in a loop",
                                 ""});
      return sat;
    }
    if (session.finish().too_much)
      fail(Verdict::forbidden,
           {"run", "the kernel prints more than 64 KiB", "", {}, "a kernel prints nothing, or a few lines while you debug it", ""});
    return sat;
  }

  Verification finished() { return {std::move(record_), draw_, std::move(counted_), {}}; }

  Candidate& candidate_;
  const ProblemDescription& problem_;
  const TensorStore& store_;
  OracleClient& oracle_;
  const VerifyOptions& options_;
  vgpu::GpuSheet sheet_;
  VerdictRecord record_;
  std::uint64_t draw_ = 0;
  std::string counted_;
  std::uint64_t sessions_ = 0;
  std::vector<std::string> pending_;  // notes on the call under way
  GpuSample sample_;                  // of the last call
  bool sample_compared_ = false;      // with the reference, and it told something
  double written_share_ = 1;          // of the outputs, in the last call that was compared
};

}  // namespace

Result<Verification> verify_on_gpu(Candidate& candidate, const ProblemDescription& problem, const TensorStore& store,
                                   OracleClient& oracle, const VerifyOptions& options) {
  return GpuVerifier(candidate, problem, store, oracle, options).run();
}

}  // namespace kw
