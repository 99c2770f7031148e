// How far timings can be trusted on a machine that is not idle: a kernel against itself, and against one that does 10% more
// work, half of the times with one core loaded. Exit status 0 when everything ran; with --strict also only when the goals
// were met.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/cores.h"
#include "measure/statistics.h"
#include "search/evaluator.h"
#include "stability/core_load.h"

namespace {

using namespace kw;
using namespace kw::stability;
using Clock = std::chrono::steady_clock;

constexpr int kRuns = 30, kQuickRuns = 6;
constexpr int kGoalSame = 27, kGoalSlower = 25;  // of kRuns
constexpr double kGoalSeconds = 20;
constexpr double kSettleSeconds = 0.3;  // until a change of load has reached the scheduler
// 26 of 256 rows again is the whole number nearest to 10%.
constexpr int kRows = 256, kExtraRows = 26;

struct Options {
  int runs = kRuns;
  double seconds_per_baseline = 17;  // a run may take 20 s
  bool strict = false;
  std::string only;  // "same" or "slower"; both when empty
};

struct Series {
  std::string name;
  int extra_rows = 0;
  int goal = 0;
};

struct Tally {
  int right = 0, right_loaded = 0, loaded = 0, runs = 0;
  double longest_seconds = 0;
  std::vector<double> widths;  // of the intervals, as shares of the speedup: a wide one contains 1 without telling anything
};

int share_of_goal(int goal, int runs) { return goal * runs / kRuns; }

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options) {}

  Status open() {
    KW_TRY(const fs::path root, install_root());
    kernel_ = root / "bench" / "stability" / "row_work.cpp";
    EvaluatorOptions evaluator;
    evaluator.seconds_per_baseline = options_.seconds_per_baseline;
    evaluator.progress = [this](std::string_view text) { waited_ = waited_ || text.rfind("waiting for another timing", 0) == 0; };
    KW_TRY(evaluator_, Evaluator::open(std::move(evaluator)));
    KW_TRY(ProblemSource problem, evaluator_->problem(root / "tests" / "problems" / "matmul.py"));
    if (problem.description.inputs.front().shape.front() != kRows)
      return internal_error(fmt::format("{} has no {} rows any more", problem.description.file, kRows),
                            "change kRows and kExtraRows with it");
    problem_.emplace(std::move(problem));
    last_core_ = usable_cores().back();
    fmt::print(
        "stability: {} on {}, {} thread{}, {} s of timing a run (or 6 pairs, if longer); loaded means a spinning process on core "
        "{}\n",
        kernel_.filename().string(), problem_->description.name, evaluator_->threads(), evaluator_->threads() == 1 ? "" : "s",
        options_.seconds_per_baseline, last_core_);
    return {};
  }

  // The baseline is the slower one, so that the right answer is a speedup.
  Result<Tally> run(const Series& series) {
    KW_TRY(Candidate baseline, Candidate::read(kernel_, {{"KW_EXTRA_ROWS", std::to_string(series.extra_rows)}}));
    KW_TRY(Candidate candidate, Candidate::read(kernel_, {{"KW_EXTRA_ROWS", "0"}}));
    // Compiles both and draws the inputs, so that the first run is like the others.
    KW_TRY(const Timed unused, measure(baseline, candidate));
    (void)unused;
    fmt::print("\n{}\n{:>4} {:<7} {:>8}  {:<18} {:>5} {:>8}\n", series.name, "run", "machine", "speedup", "95% interval", "pairs",
               "seconds");
    Tally tally;
    for (int i = 0; i < options_.runs; ++i) {
      const bool loaded = i % 2 == 1;
      KW_TRY(const bool right, run_once(series, baseline, candidate, i + 1, loaded, tally));
      ++tally.runs;
      tally.loaded += loaded;
      tally.right += right;
      tally.right_loaded += right && loaded;
    }
    return tally;
  }

 private:
  struct Timed {
    Comparison comparison;
    double seconds = 0;
  };

  Result<Timed> measure(Candidate& baseline, Candidate& candidate) {
    const auto start = Clock::now();
    waited_ = false;
    KW_TRY(const Measurement measured, evaluator_->measure_against(*problem_, baseline, candidate));
    if (!measured.timing || measured.timing->comparisons.empty())
      return internal_error(
          fmt::format("{} was not timed: {}: {}", kernel_.string(), name_of(measured.verdict), measured.diagnosis.summary));
    return Timed{measured.timing->comparisons.front(), std::chrono::duration<double>(Clock::now() - start).count()};
  }

  Result<bool> run_once(const Series& series, Candidate& baseline, Candidate& candidate, int number, bool loaded, Tally& tally) {
    std::optional<CoreLoad> load;
    if (loaded) {
      KW_TRY(CoreLoad started, CoreLoad::start(last_core_));
      load.emplace(std::move(started));
    }
    ::usleep(static_cast<useconds_t>(kSettleSeconds * 1e6));
    KW_TRY(const Timed timed, measure(baseline, candidate));
    const auto& [low, high] = timed.comparison.interval;
    const bool right = series.extra_rows == 0 ? low <= 1 && high >= 1 : low > 1;
    tally.longest_seconds = std::max(tally.longest_seconds, timed.seconds);
    tally.widths.push_back((high - low) / timed.comparison.speedup);
    fmt::print("{:>4} {:<7} {:>7.3f}x  {:.3f} .. {:<9.3f} {:>5} {:>8.1f}{}{}{}\n", number, loaded ? "loaded" : "as is",
               timed.comparison.speedup, low, high, timed.comparison.pairs, timed.seconds, right ? "" : "   WRONG",
               timed.seconds > kGoalSeconds ? "   SLOW" : "", waited_ ? "   waited for another timing" : "");
    std::fflush(stdout);
    return right;
  }

  Options options_;
  fs::path kernel_;
  std::unique_ptr<Evaluator> evaluator_;
  std::optional<ProblemSource> problem_;
  int last_core_ = 0;
  bool waited_ = false;
};

// True when the goal was met.
bool print_total(const Series& series, const Tally& tally) {
  const int goal = share_of_goal(series.goal, tally.runs);
  const bool met = tally.right >= goal && tally.longest_seconds <= kGoalSeconds;
  fmt::print("{}: right in {} of {} ({} of {} loaded); intervals {:.1f}% wide in the median; the longest took {:.1f} s\n",
             series.name, tally.right, tally.runs, tally.right_loaded, tally.loaded, 100 * median(tally.widths),
             tally.longest_seconds);
  fmt::print("  goal: {} of {}, none longer than {:.0f} s: {}\n", goal, tally.runs, kGoalSeconds, met ? "met" : "NOT MET");
  return met;
}

Result<bool> run(const Options& options) {
  KW_TRY(const TempFolder home, TempFolder::make("kw-stability-home"));
  ::setenv("KERNELWRIGHT_HOME", home.path().c_str(), 1);
  Bench bench(options);
  KW_CHECK(bench.open());
  const std::vector<Series> both{
      {"a kernel against itself: the interval contains 1", 0, kGoalSame},
      {fmt::format("against one with {:.1f}% more work: told apart", 100.0 * kExtraRows / kRows), kExtraRows, kGoalSlower}};
  std::vector<Series> all;
  for (const auto& series : both)
    if (options.only.empty() || (options.only == "same") == (series.extra_rows == 0)) all.push_back(series);
  std::vector<Tally> tallies;
  for (const auto& series : all) {
    KW_TRY(const Tally tally, bench.run(series));
    tallies.push_back(tally);
  }
  fmt::print("\n");
  bool met = true;
  for (std::size_t i = 0; i < all.size(); ++i) met = print_total(all[i], tallies[i]) && met;
  return met;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Repeats timings whose answer is known, half of them on a loaded machine", "stability_bench");
  Options options;
  bool quick = false;
  app.add_flag("--quick", quick, fmt::format("{} runs instead of {}", kQuickRuns, kRuns));
  app.add_option("--time", options.seconds_per_baseline, "seconds of timing a run; 6 pairs are made in any case")
      ->check(CLI::Range(0.1, 60.0))
      ->capture_default_str();
  app.add_option("--only", options.only, "one half: a kernel against itself, or against a slower one")
      ->check(CLI::IsMember({"same", "slower"}));
  app.add_flag("--strict", options.strict, "exit with 1 when a goal was missed");
  CLI11_PARSE(app, argc, argv);
  if (quick) options.runs = kQuickRuns;
  const auto met = run(options);
  if (!met) {
    fmt::print(stderr, "stability_bench: {}\n", met.error().message);
    if (!met.error().hint.empty()) fmt::print(stderr, "  {}\n", met.error().hint);
    return met.error().kind == ErrorKind::bad_input ? 2 : 3;
  }
  return options.strict && !*met ? 1 : 0;
}
