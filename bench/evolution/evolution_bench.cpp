// Whether evolution earns its keep: for each problem and seed, `evolve` and random sampling of strategies get the same number of
// evaluations, and the two winners are timed against each other, side by side.
#include <algorithm>
#include <atomic>
#include <cmath>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "search/run.h"

namespace {

using namespace kw;

struct Options {
  int evaluations = 20;
  int seeds = 5;
  std::vector<std::string> only;
  std::string against = "random";
  bool knowing = false;
};

const std::atomic<bool> never{false};

struct Winner {
  Kernel kernel;
  KnobValues knobs;
  double speedup = 0;  // over eager, as it was confirmed
  std::size_t tried = 0;
};

Result<Winner> winner_of(const fs::path& file, const std::string& search, std::uint64_t seed, const Options& options,
                         const fs::path& home) {
  ::setenv("KERNELWRIGHT_HOME", home.c_str(), 1);
  RunRequest request;
  request.problem_file = file.string();
  request.options.search = search;
  request.options.seed = seed;
  request.options.evaluations = options.evaluations;
  request.evaluator.compile = false;
  KW_TRY(const RunOutcome outcome, run_search(request, {}, never));
  if (outcome.run.winner < 0)
    return bad_input(fmt::format("{} found no kernel for {}", search, file.string()), "see bench/README.md");
  const Individual& best = outcome.individuals[static_cast<std::size_t>(outcome.run.winner)];
  return Winner{best.kernel, best.proposal.knobs, outcome.run.confirmed->comparisons.front().speedup, outcome.individuals.size()};
}

// How many times as fast the first is, by pairs of blocks; the same code is as fast by definition.
Result<double> ratio_of(const fs::path& file, const Winner& one, const Winner& other) {
  if (one.kernel.source == other.kernel.source && one.knobs == other.knobs) return 1.0;
  EvaluatorOptions options;
  options.seconds_per_baseline = 3;
  KW_TRY(const auto evaluator, Evaluator::open(options));
  KW_TRY(const ProblemSource problem, evaluator->problem(file));
  KW_TRY(Candidate candidate, Trials::candidate_of(one.kernel, one.knobs));
  KW_TRY(Candidate baseline, Trials::candidate_of(other.kernel, other.knobs));
  KW_TRY(const Measurement measured, evaluator->measure_against(problem, baseline, candidate));
  if (!measured.timing || measured.timing->comparisons.empty())
    return bad_input(fmt::format("the winners of {} could not be compared", file.string()), "run it again");
  return measured.timing->comparisons.front().speedup;
}

struct Spread {
  double centre = 0, low = 0, high = 0;
};

// Mean and 95% interval (Student's t) of ratios, on their logarithms.
Spread spread_of(const std::vector<double>& ratios) {
  static constexpr double kStudent[]{12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26};
  const auto count = static_cast<double>(ratios.size());
  double mean = 0, squares = 0;
  for (const double ratio : ratios) mean += std::log(ratio) / count;
  for (const double ratio : ratios) squares += std::pow(std::log(ratio) - mean, 2);
  if (ratios.size() < 2) return {std::exp(mean), 0, 0};
  const double t = ratios.size() - 2 < std::size(kStudent) ? kStudent[ratios.size() - 2] : 2;
  const double half = t * std::sqrt(squares / (count - 1) / count);
  return {std::exp(mean), std::exp(mean - half), std::exp(mean + half)};
}

Result<bool> compare_on(const fs::path& file, const Options& options, const fs::path& learnt, std::vector<double>& means) {
  std::vector<double> ratios;
  std::string each;
  double evolved = 0, sampled = 0;
  for (int seed = 1; seed <= options.seeds; ++seed) {
    // Each search with an archive of its own: neither learns from the other.
    KW_TRY(const TempFolder one, TempFolder::make("kw-evolution-one"));
    KW_TRY(const TempFolder other, TempFolder::make("kw-evolution-other"));
    if (options.knowing) {
      std::error_code failed;
      fs::copy(learnt, one.path(), fs::copy_options::recursive | fs::copy_options::overwrite_existing, failed);
      if (failed) return bad_input("the archive could not be copied: " + failed.message(), "free some space");
    }
    KW_TRY(const Winner best, winner_of(file, "evolve", static_cast<std::uint64_t>(seed), options, one.path()));
    KW_TRY(const Winner rival, winner_of(file, options.against, static_cast<std::uint64_t>(seed), options, other.path()));
    KW_TRY(const double ratio, ratio_of(file, best, rival));
    ratios.push_back(ratio);
    evolved += std::log(best.speedup) / options.seeds;
    sampled += std::log(rival.speedup) / options.seeds;
    each += fmt::format(" {:.2f}", ratio);
  }
  const Spread spread = spread_of(ratios);
  means.push_back(spread.centre);
  fmt::print("{:<20} {:>6.2f}x {:>6.2f}x   {:>6.2f}x ({:.2f} to {:.2f})  {}  {}\n", file.stem().string(), std::exp(evolved),
             std::exp(sampled), spread.centre, spread.low, spread.high,
             spread.low > 1    ? "better"
             : spread.high < 1 ? "worse "
                               : "even  ",
             each);
  std::fflush(stdout);
  return spread.low > 1;
}

Result<bool> run(const Options& options) {
  KW_TRY(const fs::path root, install_root());
  std::vector<fs::path> files;
  for (const auto& entry : entries_of(root / "bench" / "evolution" / "problems"))
    if (entry.path().extension() == ".py") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  if (!options.only.empty())
    std::erase_if(files, [&](const fs::path& file) {
      return std::find(options.only.begin(), options.only.end(), file.stem().string()) == options.only.end();
    });
  KW_TRY(const TempFolder learnt, TempFolder::make("kw-evolution-learnt"));
  if (options.knowing)
    for (const char* name : {"layer_norm", "matmul", "cumsum", "max_pool2d", "cross_entropy", "linear_relu", "row_softmax"})
      KW_CHECK(winner_of(root / "tests" / "problems" / (std::string(name) + ".py"), "evolve", 99, options, learnt.path()));
  fmt::print("{} evaluations each, {} seeds; over eager: evolve, {}; then the winners against each other (95% interval)\n",
             options.evaluations, options.seeds, options.against);
  std::vector<double> means;
  int better = 0;
  for (const fs::path& file : files) {
    KW_TRY(const bool won, compare_on(file, options, learnt.path(), means));
    better += won ? 1 : 0;
  }
  const Spread all = spread_of(means);
  fmt::print("evolve is better on {} of {} problems; over all {:.2f}x ({:.2f} to {:.2f})\n", better, files.size(), all.centre,
             all.low, all.high);
  const auto goal = std::min<int>(8, static_cast<int>(files.size()));
  fmt::print("goal: better on {}: {}\n", goal, better >= goal ? "met" : "missed");
  return better >= goal;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Evolution against random sampling of strategies, with the same number of evaluations", "evolution_bench");
  Options options;
  bool strict = false;
  app.add_option("--evaluations", options.evaluations, "of each search")->capture_default_str();
  app.add_option("--seeds", options.seeds, "searches of each kind a problem")->capture_default_str();
  app.add_option("--only", options.only, "problems of bench/evolution/problems, without .py");
  app.add_option("--against", options.against, "the other search")->capture_default_str();
  app.add_flag("--knowing", options.knowing, "evolve begins with the ledger and lessons of searches on other problems");
  app.add_flag("--strict", strict, "exit with 1 when the goal was missed");
  CLI11_PARSE(app, argc, argv);
  const auto met = run(options);
  if (!met) {
    fmt::print(stderr, "evolution_bench: {}\n", met.error().message);
    return met.error().kind == ErrorKind::bad_input ? 2 : 3;
  }
  return strict && !*met ? 1 : 0;
}
