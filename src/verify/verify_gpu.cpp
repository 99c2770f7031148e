#include "verify/verify_gpu.h"

#include <algorithm>
#include <chrono>
#include <set>

#include <fmt/format.h>

#include "base/duration.h"
#include "dsl/session_tensors.h"
#include "verify/check.h"
#include "verify/gpu_findings.h"
#include "vgpu/gpu_sheet.h"

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

// Indices into verification_kinds(), the most telling first; the problem's own inputs and their neighbours again at the end.
std::vector<std::size_t> order_of_kinds(bool brief) {
  if (brief) return {0, 3};
  return {0, 3, 5, 2, 4, 6, 7, 8, 9, 0, 1};
}

class GpuVerifier {
 public:
  GpuVerifier(Candidate& candidate, const ProblemDescription& problem, const TensorStore& store, OracleClient& oracle,
              const VerifyOptions& options)
      : candidate_(candidate), problem_(problem), store_(store), oracle_(oracle), options_(options) {}

  Result<Verification> run() {
    KW_TRY(const vgpu::GpuSheet sheet,
           vgpu::load_gpu_sheet(options_.gpu.empty() ? vgpu::kDefaultGpu : std::string_view(options_.gpu)));
    record_.sandbox = sandbox::name_of(options_.mode);
    record_.precision = options_.precision;
    say("compiling");
    CompileOptions compile = CompileOptions::within(options_.compile_timeout, options_.mode);
    compile.gpu = options_.gpu;
    KW_TRY(const CompileOutcome compiled, candidate_.compile(problem_, compile));
    if (!compiled.kernel) {
      fail(compiled.verdict, compiled.diagnosis);
      return finished();
    }
    record_.compile_seconds = compiled.kernel->seconds;
    draw_ = options_.draw ? *options_.draw : store_.pick_draw(options_.fresh);
    record_.verdict = Verdict::passed;
    KW_CHECK(sit(sheet));
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
  [[nodiscard]] double call_seconds() const { return options_.call_timeout.value_or(kCallSeconds); }
  [[nodiscard]] milliseconds deadline() const { return milliseconds(static_cast<long long>((call_seconds() + 5) * 1000)); }

  // False: the verdict is settled.
  bool settle(Verdict verdict, Diagnosis diagnosis, const TensorSet& set) {
    diagnosis.evidence.push_back(
        fmt::format("inputs: {}, {} weights, on a virtual GPU", set.distribution, set.fresh_weights ? "fresh" : "given"));
    if (const std::size_t before = record_.checks.size(); before > 0 && diagnosis.stage != "compare")
      diagnosis.evidence.push_back(fmt::format("{} earlier check{} passed", before, before == 1 ? "" : "s"));
    fail(verdict, std::move(diagnosis));
    return false;
  }

  Result<bool> looks_right(const std::optional<GpuReport>& report, bool in_prepare, const TensorSet& set) {
    if (!report) return true;
    KW_TRY(const GpuJudgement judged, judge_gpu_report(*report, candidate_.source().file, in_prepare));
    pending_ = judged.notes;
    return judged.verdict == Verdict::passed ? true : settle(judged.verdict, judged.diagnosis, set);
  }

  Result<bool> call_and_check(Session& session, const TensorSet& set, bool checks) {
    KW_CHECK(load_inputs(session, problem_, set, 0));
    KW_CHECK(load_weights(session, problem_, set));
    const auto start = Clock::now();
    KW_TRY(auto prepared, session.prepare(deadline()));
    if (!prepared.ok()) return settle(prepared.failure.verdict, prepared.failure.diagnosis, set);
    KW_TRY(const bool prepared_well, looks_right(prepared.value->gpu, true, set));
    if (!prepared_well) return false;
    const int zero[] = {0};
    KW_TRY(auto called, session.call(zero, zero, true, deadline()));
    record_.run_seconds += seconds_since(start);
    if (!called.ok()) return settle(called.failure.verdict, called.failure.diagnosis, set);
    if (options_.gpu_counters && counted_.empty()) counted_ = called.value->gpu->lines;
    KW_TRY(const bool ran_well, looks_right(called.value->gpu, false, set));
    if (!ran_well) return false;
    const auto comparing = Clock::now();
    KW_TRY(CheckOutcome checked, check_outputs(session, problem_, set, 0, options_.precision));
    record_.compare_seconds += seconds_since(comparing);
    checked.result.threads = options_.threads;
    if (checked.verdict != Verdict::passed) {
      const bool settled = settle(checked.verdict, checked.diagnosis, set);
      record_.checks.push_back(checked.result);
      return settled;
    }
    record_.checks.push_back(checked.result);
    for (const std::string& note : pending_) remember_note(note);  // they say that the outputs are right
    // Memory of the device is closed to code on the host; should it find a way in, the values did not come from a kernel.
    for (std::size_t i = 0; checks && i < problem_.outputs.size() && i < called.value->gpu->unwritten.size(); ++i)
      if (const std::uint64_t bytes = called.value->gpu->unwritten[i]; bytes > 0)
        return settle(
            Verdict::mistrusted,
            {"run",
             fmt::format("{} bytes of '{}' are right although nothing on the device wrote them", bytes, problem_.outputs[i].name),
             "",
             {},
             "compute in a __global__ function",
             ""},
            set);
    return true;
  }

  Result<Session> open_session(bool checks) {
    const auto& kernel = *candidate_.kernel();
    SessionOptions session_options;
    session_options.mode = options_.mode;
    session_options.threads = options_.threads;
    session_options.cores = options_.cores;
    session_options.passive_waits = true;
    session_options.gpu = SessionGpu{*kernel.gpu, checks, checks && options_.gpu_counters, call_seconds()};
    KW_TRY(Session session, Session::create(problem_, kernel.object, kernel.has_prepare, session_options));
    KW_TRY(const auto launched, session.launch(deadline()));
    if (!launched.ok()) fail(launched.failure.verdict, launched.failure.diagnosis);
    return session;
  }

  [[nodiscard]] double budget() const { return options_.brief ? kBriefSeconds : options_.gpu_seconds; }

  // All kinds of inputs that there is time for: with checks first, then those that are left without them.
  Status sit(const vgpu::GpuSheet& sheet) {
    std::vector<std::size_t> left = order_of_kinds(options_.brief);
    KW_TRY(const Sat checked, sit(sheet, true, left, options_.brief ? budget() : kCheckedShare * budget()));
    if (record_.verdict != Verdict::passed) return {};
    Sat unchecked;
    if (!options_.brief && !left.empty()) {
      kinds_tried_ = checked.kinds;
      KW_TRY(unchecked, sit(sheet, false, left, budget()));
      if (record_.verdict != Verdict::passed) return {};
    }
    // Last, because it is the only claim about how much was done.
    const std::string more = unchecked.kinds == 0 ? ""
                                                  : fmt::format(", {} more without checks for lack of time ({:.2g} s a call)",
                                                                unchecked.kinds, unchecked.longest);
    remember_note(fmt::format("on a virtual {} with all checks: {} of {} kinds of inputs at full shapes, {:.2g} s a call{}",
                              sheet.name, checked.kinds, verification_kinds().size(), checked.longest, more));
    return {};
  }

  // What one session did.
  struct Sat {
    std::size_t kinds = 0;
    double longest = 0;  // seconds of a call
  };

  // Calls on the kinds that are left, in one process, within so many seconds of calls in all; what was tried is left no more.
  Result<Sat> sit(const vgpu::GpuSheet& sheet, bool checks, std::vector<std::size_t>& left, double seconds) {
    KW_TRY(Session session, open_session(checks));
    if (record_.verdict != Verdict::passed) return Sat{};
    Sat sat;
    std::set<std::size_t> seen;
    while (!left.empty()) {
      const std::size_t kind = left.front();
      const bool enough = checks ? !seen.empty() : kinds_tried_ + seen.size() >= kFewestKinds;
      if (enough && record_.run_seconds + sat.longest > seconds) break;
      left.erase(left.begin());
      say(fmt::format("inputs: {}", verification_kinds()[kind].distribution));
      KW_TRY(const TensorSet set, store_.get(draw_, verification_kinds()[kind], oracle_));
      for (const auto& note : set.notes) remember_note(note);
      if (set.nonfinite > 0.5) {
        remember_note(fmt::format("inputs '{}' were left out: {:.0f}% of the reference is not finite", set.distribution,
                                  set.nonfinite * 100));
        continue;
      }
      say(fmt::format("running on a virtual {}: {}", sheet.name, set.distribution));
      const auto start = Clock::now();
      KW_TRY(const bool right, call_and_check(session, set, checks));
      seen.insert(kind);
      sat.kinds = seen.size();
      sat.longest = std::max(sat.longest, seconds_since(start));
      if (!right) return sat;
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

  Verification finished() { return {std::move(record_), draw_, std::move(counted_)}; }

  Candidate& candidate_;
  const ProblemDescription& problem_;
  const TensorStore& store_;
  OracleClient& oracle_;
  const VerifyOptions& options_;
  VerdictRecord record_;
  std::uint64_t draw_ = 0;
  std::string counted_;
  std::size_t kinds_tried_ = 0;       // in the session before
  std::vector<std::string> pending_;  // notes on the call under way
};

}  // namespace

Result<Verification> verify_on_gpu(Candidate& candidate, const ProblemDescription& problem, const TensorStore& store,
                                   OracleClient& oracle, const VerifyOptions& options) {
  return GpuVerifier(candidate, problem, store, oracle, options).run();
}

}  // namespace kw
