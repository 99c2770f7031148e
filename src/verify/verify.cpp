#include "verify/verify.h"

#include <algorithm>
#include <chrono>
#include <random>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/duration.h"
#include "verify/check.h"
#include "verify/crash_lines.h"
#include "verify/operators.h"
#include "verify/verify_gpu.h"

namespace kw {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// One process of the verification: which inputs, in which surroundings.
struct Sitting {
  int threads;
  Placement placement;
  std::vector<std::size_t> kinds;  // indices into verification_kinds(), in this order, repeats included
};

// The first sitting sees every kind of input at the same addresses, the problem's own again towards the end; the others
// repeat some with other thread counts and with buffers placed otherwise.
std::vector<Sitting> sittings(const VerifyOptions& options) {
  constexpr std::size_t kGiven = 0, kNudged = 1, kMixed = 3, kOutlier = 4, kScaled = 5;
  const int threads = options.threads;
  if (options.brief) {
    std::vector<std::size_t> some{kGiven, kMixed, kScaled};
    if (options.closer) some.push_back(kOutlier);
    return {{threads, Placement::tail, some}, {1, Placement::head, {kGiven}}};
  }
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < verification_kinds().size(); ++i)
    if (i != kNudged) all.push_back(i);
  all.insert(all.end(), {kGiven, kNudged});  // hardly different from what the call before saw
  return {{threads, Placement::tail, all}, {1, Placement::head, {0, 3}}, {threads + 1, Placement::tail, {2, 2, 4}}};
}

class Verifier {
 public:
  Verifier(Candidate& candidate, const ProblemDescription& problem, const TensorStore& store, OracleClient& oracle,
           const VerifyOptions& options)
      : candidate_(candidate), problem_(problem), store_(store), oracle_(oracle), options_(options) {}

  Result<Verification> run() {
    record_.sandbox = sandbox::name_of(options_.mode);
    record_.precision = options_.precision;
    say("compiling");
    CompileOptions compile = CompileOptions::within(options_.compile_timeout, options_.mode);
    compile.gpu = options_.gpu;
    compile.device = options_.device;
    compile.allow_torch = options_.allow_torch;
    KW_TRY(const CompileOutcome compiled, candidate_.compile(problem_, compile));
    if (!compiled.kernel) {
      fail(compiled.verdict, compiled.diagnosis);
      return finished();
    }
    record_.compile_seconds = compiled.kernel->seconds;
    for (const auto& note : compiled.kernel->notes) remember_note(note);
    draw_ = options_.draw ? *options_.draw : store_.pick_draw(options_.fresh);

    record_.verdict = Verdict::passed;
    for (const auto& sitting : sittings(options_)) {
      KW_TRY(bool goes_on, sit(sitting));
      // Whether a ModelNew makes its own weights is known when it has been built, and it is built once in a process.
      if (!goes_on && begins_anew_) {
        begins_anew_ = false;
        KW_TRY(goes_on, sit(sitting));
      }
      if (!goes_on) break;
    }
    if (weights_are_seeded_ && record_.verdict != Verdict::forbidden) look_at_seeded_weights();
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

  Result<const TensorSet*> set_of(std::size_t kind) {
    if (const auto it = sets_.find(kind); it != sets_.end()) return &it->second;
    say(fmt::format("inputs: {}", verification_kinds()[kind].distribution));
    SetKind wanted = verification_kinds()[kind];
    if (weights_are_seeded_) {
      wanted.fresh_weights = false;
      wanted.seeded_weights = true;
    }
    KW_TRY(TensorSet set, store_.get(draw_, wanted, oracle_));
    for (const auto& note : set.notes) remember_note(note);
    return &sets_.emplace(kind, std::move(set)).first->second;
  }

  void remember_note(const std::string& note) {
    if (std::find(record_.notes.begin(), record_.notes.end(), note) == record_.notes.end()) record_.notes.push_back(note);
  }

  SessionOptions session_options(const Sitting& sitting) const {
    SessionOptions options;
    options.mode = options_.mode;
    options.threads = sitting.threads;
    options.cores = options_.cores;
    options.placement = sitting.placement;
    options.passive_waits = true;
    const auto& kernel = *candidate_.kernel();
    if (kernel.python && kernel.gpu)
      options.gpu = SessionGpu{*kernel.gpu, true, false, 0, 0, draw_ + static_cast<std::uint64_t>(sitting.threads)};
    return options;
  }

  // False when the verdict is settled.
  bool settle(RunFailure failure, const TensorSet& set, const Sitting& sitting) {
    if (!candidate_.kernel()->python) explain_crash(failure, candidate_, problem_, set, session_options(sitting));
    failure.diagnosis.evidence.push_back(circumstances(set, sitting));
    fail(failure.verdict, failure.diagnosis);
    return false;
  }

  static std::string circumstances(const TensorSet& set, const Sitting& sitting) {
    return fmt::format("inputs: {}, {} weights, {} thread{}", set.distribution, weights_of(set), sitting.threads,
                       sitting.threads == 1 ? "" : "s");
  }

  // One call on one set, prepared anew; false when the verdict is settled.
  Result<bool> call_and_check(Session& session, const TensorSet& set, const Sitting& sitting, const std::string& remark) {
    KW_CHECK(load_inputs(session, problem_, set, 0));
    KW_CHECK(load_weights(session, problem_, set));
    const milliseconds deadline = call_deadline(set, options_.call_timeout);
    auto start = Clock::now();
    KW_TRY(auto prepared, session.prepare(deadline));
    if (!prepared.ok()) return settle(std::move(prepared.failure), set, sitting);
    if (prepared.value->seeded && !weights_are_seeded_) {
      weights_are_seeded_ = begins_anew_ = true;
      sets_.clear();
      remember_note(
          "ModelNew makes weights of its own (its state_dict() has other keys than Model's, or it packs them when it is built): "
          "they "
          "come from the seed that Model was built under, with drawn values where constants would be, and are the same in every "
          "check");
      return false;
    }
    const int zero[] = {0};
    KW_TRY(auto called, session.call(zero, zero, true, deadline));
    record_.run_seconds += seconds_since(start);
    if (!called.ok()) return settle(std::move(called.failure), set, sitting);
    last_call_seconds_ = called.value->seconds.front();
    if (called.value->float_state_changed) {
      fail(Verdict::forbidden,
           {"run",
            "the kernel leaves the floating-point mode changed",
            "",
            {circumstances(set, sitting)},
            "whoever calls it would compute otherwise afterwards: restore MXCSR (flush to zero, rounding) before returning",
            ""});
      return false;
    }
    if (called.value->watched && !look_at_operators(*called.value->watched)) return false;
    start = Clock::now();
    KW_TRY(CheckOutcome checked, check_outputs(session, problem_, set, 0, options_.precision, nearby_noise_of(store_, oracle_)));
    if (checked.heard_again) remember_note(std::string(kHeardAgain));
    record_.compare_seconds += seconds_since(start);
    checked.result.threads = sitting.threads;
    last_fingerprint_ = checked.fingerprint;
    record_.checks.push_back(checked.result);
    if (checked.verdict == Verdict::passed) return true;
    checked.diagnosis.evidence.push_back(circumstances(set, sitting));
    const std::size_t passed_before = record_.checks.size() - 1;
    if (!remark.empty())
      checked.diagnosis.evidence.push_back(remark);
    else if (passed_before > 0)
      checked.diagnosis.evidence.push_back(fmt::format("{} earlier check{} passed", passed_before, passed_before == 1 ? "" : "s"));
    fail(checked.verdict, checked.diagnosis);
    return false;
  }

  // What a ModelNew does with weights that it makes itself shows only where their values are not known to its writer.
  void look_at_seeded_weights() {
    if (record_.verdict == Verdict::wrong || record_.verdict == Verdict::imprecise) {
      record_.diagnosis.evidence.emplace_back(
          "ModelNew makes its weights itself: Model's first parameter of n ones gets the same values as ModelNew's first one of n "
          "ones, "
          "and so on for the second, for zeros and for running statistics");
      return;
    }
    if (record_.verdict != Verdict::passed) return;
    std::vector<std::string> known;
    for (const auto& [kind, set] : sets_) known = set.known_weights;
    std::string what;
    if (!known.empty())
      what = fmt::format("'{}' of Model has the same values under every seed", fmt::join(known, "', '"));
    else if (record_.checks.empty())
      what = "with drawn weights no kind of inputs has a finite reference";
    else
      return;
    fail(Verdict::mistrusted,
         {"compare",
          "whether ModelNew uses its weights cannot be told: " + what,
          "",
          {"its state_dict() has other keys than Model's, or it packs weights when it is built"},
          "give ModelNew's parameters and buffers Model's names, and pack them in the first call: then others are "
          "loaded for each check",
          ""});
  }

  // What PyTorch did in a call of ModelNew; false when the verdict is settled.
  bool look_at_operators(const WatchedCall& watched) {
    if (!watched.in_force) {
      fail(Verdict::mistrusted, {"run",
                                 "the watch over PyTorch's operators was gone after the call",
                                 "",
                                 {},
                                 "leave PyTorch's dispatch modes alone",
                                 ""});
      return false;
    }
    for (const auto& note : notes_on_operators(watched)) remember_note(note);
    return true;
  }

  Result<bool> sit(const Sitting& sitting) {
    const auto& kernel = *candidate_.kernel();
    KW_TRY(Session session, Session::create(problem_, kernel, session_options(sitting)));
    KW_TRY(const TensorSet* first, set_of(sitting.kinds.front()));
    say(fmt::format("running with {} thread{}", sitting.threads, sitting.threads == 1 ? "" : "s"));
    const auto start = Clock::now();
    KW_TRY(auto launched, session.launch(call_deadline(*first, options_.call_timeout)));
    record_.run_seconds += seconds_since(start);
    if (!launched.ok()) return settle(std::move(launched.failure), *first, sitting);

    std::map<std::size_t, std::uint64_t> fingerprints;
    for (const std::size_t kind : sitting.kinds) {
      KW_TRY(const TensorSet* set, set_of(kind));
      if (set->nonfinite > 0.5) {
        remember_note(fmt::format("inputs '{}' were left out: {:.0f}% of the reference is not finite", set->distribution,
                                  set->nonfinite * 100));
        continue;
      }
      KW_TRY(const bool right, call_and_check(session, *set, sitting, ""));
      if (!right) return false;
      if (options_.brief && options_.hopeless_seconds && last_call_seconds_ > *options_.hopeless_seconds) {
        hopeless_call_ = last_call_seconds_;
        return false;
      }
      const auto [it, is_new] = fingerprints.emplace(kind, last_fingerprint_);
      if (!is_new && it->second != last_fingerprint_) remember_note("two calls on the same inputs differ in their last bits");
    }
    if (!options_.brief) {
      KW_TRY(const bool endures, endure(session, sitting));
      if (!endures) return false;
    }
    if (session.runs_in_the_background()) {
      fail(Verdict::mistrusted, {"run",
                                 "the kernel keeps computing after it has returned",
                                 "",
                                 {circumstances(*first, sitting)},
                                 "all work ends before the call does: no thread may stay in a loop",
                                 ""});
      return false;
    }
    if (session.finish().too_much) {
      fail(Verdict::forbidden,
           {"run", "the kernel prints more than 64 KiB", "", {}, "a kernel prints nothing, or a few lines while you debug it", ""});
      return false;
    }
    return true;
  }

  // Many calls in one process, and then one on other inputs: a kernel may not tire, leak or learn.
  Result<bool> endure(Session& session, const Sitting& sitting) {
    if (sitting.threads != options_.threads) return true;
    KW_TRY(const TensorSet* last, set_of(sitting.kinds.front()));
    const milliseconds deadline = call_deadline(*last, options_.call_timeout);
    for (int calls = 1; calls <= 256; calls *= 4) {
      const std::vector<int> order(static_cast<std::size_t>(calls + std::uniform_int_distribution<int>(0, calls / 4)(random_)), 0);
      const auto start = Clock::now();
      KW_TRY(auto called, session.call(order, order, false, deadline * calls));
      record_.run_seconds += seconds_since(start);
      if (!called.ok()) return settle(std::move(called.failure), *last, sitting);
      if (seconds_since(start) * 4 > 0.3) break;  // the next round would take too long
    }
    for (const std::size_t kind : {std::size_t{2}, std::size_t{3}}) {
      KW_TRY(const TensorSet* set, set_of(kind));
      KW_TRY(const bool right,
             call_and_check(session, *set, sitting, "after many calls in one process; the first ones were right"));
      if (!right) return false;
    }
    return true;
  }

  Verification finished() { return {std::move(record_), draw_, "", hopeless_call_}; }

  Candidate& candidate_;
  const ProblemDescription& problem_;
  const TensorStore& store_;
  OracleClient& oracle_;
  const VerifyOptions& options_;
  VerdictRecord record_;
  std::uint64_t draw_ = 0;
  std::map<std::size_t, TensorSet> sets_;
  bool weights_are_seeded_ = false;  // ModelNew takes no weights: only the initial ones can be checked
  bool begins_anew_ = false;         // the process had built it with other weights than are checked
  std::uint64_t last_fingerprint_ = 0;
  double last_call_seconds_ = 0;
  std::optional<double> hopeless_call_;
  std::mt19937_64 random_{std::random_device{}()};
};

}  // namespace

Result<Verification> verify(Candidate& candidate, const ProblemDescription& problem, const TensorStore& store, OracleClient& oracle,
                            const VerifyOptions& options) {
  if (candidate.dsl().on_gpu()) return verify_on_gpu(candidate, problem, store, oracle, options);
  return Verifier(candidate, problem, store, oracle, options).run();
}

}  // namespace kw
