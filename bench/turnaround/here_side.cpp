#include "turnaround/here_side.h"

#include <chrono>

#include <fmt/format.h>

namespace kw::turnaround {
namespace {

using Clock = std::chrono::steady_clock;

// A draw of its own. Drawn ones are picked at random among all that are cached, and some of those have no sets for timing yet:
// making them would be counted as turnaround.
constexpr std::uint64_t kDraw = 15;

double seconds_between(Clock::time_point from, Clock::time_point to) { return std::chrono::duration<double>(to - from).count(); }

// Tells the stages that the record has no times of by what the evaluator says as it goes.
class StageMarks {
 public:
  void begin() {
    began_ = sets_ = timing_ = Clock::now();
    waited_ = false;
  }
  void hear(std::string_view text) {
    if (text == "drawing inputs for timing") sets_ = Clock::now();
    if (text.rfind("loading the baseline", 0) == 0) timing_ = Clock::now();
    if (text.rfind("waiting for another timing", 0) == 0) waited_ = true;
  }
  // An evaluator that said neither has its whole time under `other`.
  [[nodiscard]] Round finish(const VerdictRecord& record) const {
    const auto end = Clock::now();
    const bool heard = sets_ > began_ && timing_ >= sets_;
    Round round;
    round.seconds = seconds_between(began_, end);
    round.waited = waited_;
    auto& stages = round.stages;
    stages.compile = record.compile_seconds;
    stages.run = record.run_seconds;
    stages.compare = record.compare_seconds;
    stages.sets = heard ? seconds_between(sets_, timing_) : 0;
    stages.timing = heard ? seconds_between(timing_, end) : 0;
    stages.other = round.seconds - stages.compile - stages.run - stages.compare - stages.sets - stages.timing;
    return round;
  }

 private:
  Clock::time_point began_, sets_, timing_;
  bool waited_ = false;
};

class Side {
 public:
  explicit Side(const HereOptions& options) : options_(options) {}

  Status open() {
    EvaluatorOptions evaluator;
    evaluator.compile = false;
    evaluator.seed = kDraw;
    evaluator.seconds_per_baseline = options_.seconds_per_baseline;
    evaluator.progress = [this](std::string_view text) { marks_.hear(text); };
    KW_TRY(evaluator_, Evaluator::open(std::move(evaluator)));
    KW_TRY(TempFolder folder, TempFolder::make("kw-turnaround"));
    folder_.emplace(std::move(folder));
    return {};
  }

  Result<HereSide> run(const Case& which) {
    HereSide side;
    side.which = which;
    KW_TRY(side.kernel_text, read_file(which.kernel));
    KW_TRY(const ProblemSource problem, evaluator_->problem(which.problem));
    side.problem = problem.description;
    for (int round = 0; round <= options_.rounds; ++round) {
      KW_TRY(const Round counted, evaluate(problem, side, round));
      if (round > 0) side.rounds.push_back(counted);
    }
    KW_CHECK(name_folders(problem, side));
    return side;
  }

 private:
  Result<Round> evaluate(const ProblemSource& problem, HereSide& side, int round) {
    const fs::path file = folder_->path() / fmt::format("{}_{}.cpp", side.which.name, round);
    KW_CHECK(write_file_atomically(file, fmt::format("{}\n// round {}\n", side.kernel_text, round)));
    marks_.begin();
    KW_TRY(Candidate candidate, Candidate::read(file, {}));
    KW_TRY(const Evaluated evaluated, evaluator_->measure(problem, candidate, "kernelwright measure"));
    const auto& evaluation = evaluated.evaluation;
    const Round counted = marks_.finish(evaluation.verdict);
    if (evaluated.from_archive) return internal_error(fmt::format("{}: the archive answered, so nothing was timed", file.string()));
    if (!evaluation.timing || evaluation.timing->comparisons.empty())
      return bad_input(fmt::format("{} did not pass: {}: {}", side.which.kernel.string(), name_of(evaluation.verdict.verdict),
                                   evaluation.verdict.diagnosis.summary),
                       "give a kernel that is right");
    const Comparison& eager = evaluation.timing->comparisons.front();
    side.checks = static_cast<int>(evaluation.verdict.checks.size());
    side.blocks = eager.pairs;
    side.calls = eager.calls;
    side.speedup = eager.speedup;
    return counted;
  }

  // The same tensors for whoever repeats the work.
  Status name_folders(const ProblemSource& problem, HereSide& side) {
    const TensorStore store(problem, "float32");
    for (const auto& kind : verification_kinds()) {
      KW_TRY(const TensorSet set, store.get(kDraw, kind, evaluator_->oracle()));
      if (set.nonfinite <= 0.5) side.check_folders.push_back(set.folder);
    }
    KW_TRY(const TimingSets timing, timing_sets(problem.description, store, kDraw, evaluator_->oracle()));
    for (const auto& set : timing.sets) side.timing_folders.push_back(set.folder);
    return {};
  }

  HereOptions options_;
  StageMarks marks_;
  std::unique_ptr<Evaluator> evaluator_;
  std::optional<TempFolder> folder_;
};

}  // namespace

Result<std::vector<HereSide>> run_here(const std::vector<Case>& cases, const HereOptions& options) {
  Side side(options);
  KW_CHECK(side.open());
  std::vector<HereSide> all;
  for (const auto& which : cases) {
    KW_TRY(HereSide one, side.run(which));
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace kw::turnaround
