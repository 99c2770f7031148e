// Random graphs through the playbook and the real evaluator:
//   graph_fuzz --count N --seed S [--keep FOLDER]
//   graph_fuzz --problems FOLDER [--without STRATEGY] [--measure SECONDS]: every problem of a folder instead, plain and with every
//     strategy; or timed with every strategy, so long beside eager
// Each graph's plain kernel, the one with every strategy, or one with a random set of them (in turn) is verified against float64. A
// kernel that does not pass is kept with its problem; so is a graph that the playbook cannot read although it is made of operations
// that it knows.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "base/subprocess.h"
#include "search/coder.h"
#include "search/trials.h"
#include "strategy/random.h"
#include "support/planted_machine.h"
#include "support/temp_home.h"

namespace kw {
namespace {

struct Options {
  int count = 200;
  std::uint64_t seed = 1;
  fs::path keep = "graph-failures";
  fs::path problems{};
  std::string without{};
  double measure = 0;  // seconds; 0: nothing is timed
};

class GraphFuzz {
 public:
  GraphFuzz(Evaluator& evaluator, const StrategyPool& pool, Options options)
      : evaluator_(evaluator), pool_(pool), options_(std::move(options)) {}

  // What is wrong; empty: nothing.
  std::string run(const fs::path& file, std::uint64_t seed) {
    auto problem = evaluator_.problem(file);
    if (!problem) return "problem: " + problem.error().message;
    auto coder = playbook_coder(problem->description, evaluator_.machine(), evaluator_.threads());
    if (!coder) return "playbook: " + coder.error().message;
    auto kernel = (*coder)->write(strategies(**coder, seed));
    if (!kernel) return "writing: " + kernel.error().message;
    auto candidate = Trials::candidate_of(*kernel, {});
    if (!candidate) return "candidate: " + candidate.error().message;
    const std::string trouble = options_.measure > 0 ? timed(file, *problem, *candidate) : judged(*problem, *candidate, seed);
    if (!trouble.empty() || options_.measure > 0) keep(file, kernel->source);
    return trouble;
  }

 private:
  [[nodiscard]] std::vector<std::string> strategies(const Coder& coder, std::uint64_t seed) const {
    if (seed % 3 == 0) return {};
    auto usable = usable_by(coder, pool_, pool_.ids());
    std::erase(usable, options_.without);
    if (seed % 3 == 1) return usable;
    Random random(seed);
    std::vector<std::string> some;
    for (const std::string& id : usable)
      if (random.below(2) == 0) some.push_back(id);
    return some;
  }

  std::string judged(const ProblemSource& problem, Candidate& candidate, std::uint64_t seed) {
    const auto verdict = evaluator_.verify_briefly(problem, candidate, seed + 1);
    return verdict ? trouble_of(*verdict) : "evaluator: " + verdict.error().message;
  }

  std::string timed(const fs::path& file, const ProblemSource& problem, Candidate& candidate) {
    const auto measured = evaluator_.measure(problem, candidate, "graph_fuzz");
    if (!measured) return "evaluator: " + measured.error().message;
    if (const auto& timing = measured->evaluation.timing; timing && !timing->comparisons.empty())
      fmt::print("{:6.2f} times as fast as eager, {:8.3f} ms: {}\n", timing->comparisons[0].speedup, 1e3 * timing->seconds,
                 file.stem().string());
    std::fflush(stdout);
    return trouble_of(measured->evaluation.verdict);
  }

  static std::string trouble_of(const VerdictRecord& verdict) {
    if (verdict.verdict == Verdict::passed) return "";
    return fmt::format("{}: {} {} {}", name_of(verdict.verdict), verdict.diagnosis.summary, verdict.diagnosis.place,
                       verdict.diagnosis.evidence.empty() ? "" : verdict.diagnosis.evidence.front());
  }

  void keep(const fs::path& file, const std::string& source) const {
    if (!make_folders(options_.keep)) return;
    std::error_code ignored;
    fs::copy_file(file, options_.keep / file.filename(), fs::copy_options::overwrite_existing, ignored);
    (void)write_file_atomically(options_.keep / file.filename().replace_extension(".cpp"), source).ok();
  }

  Evaluator& evaluator_;
  const StrategyPool& pool_;
  Options options_;
};

bool run_folder(GraphFuzz fuzz, const Options& options) {
  std::vector<fs::path> files;
  for (const auto& entry : entries_of(options.problems))
    if (entry.path().extension() == ".py") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  int failed = 0;
  for (const auto& file : files)
    for (std::uint64_t seed = options.measure > 0 ? 1 : 0; seed <= 1; ++seed) {  // plain, and with every strategy
      const std::string trouble = fuzz.run(file, seed);
      if (trouble.empty()) continue;
      ++failed;
      fmt::print("FAILED {} {}: {}\n", file.stem().string(), seed == 0 ? "plain" : "with every strategy", trouble);
      std::fflush(stdout);
    }
  fmt::print("{} problems, {} kernels failed\n", files.size(), failed);
  return failed == 0 && !files.empty();
}

Result<bool> run(const Options& options) {
  const testing::TempHome home(testing::CacheIs::own);
  if (options.measure <= 0) testing::plant_machine();  // timings are of kernels for the machine that is here
  EvaluatorOptions brief;
  if (options.measure > 0) brief.seconds_per_baseline = options.measure;
  brief.compile = false;
  KW_TRY(const auto evaluator, Evaluator::open(brief));
  KW_TRY(const StrategyPool pool, StrategyPool::load_own());
  KW_TRY(const std::string python, oracle_python());
  if (!options.problems.empty()) return run_folder(GraphFuzz(*evaluator, pool, options), options);
  const fs::path graphs = home.home() / "graphs";
  Command make;
  make.argv = {python, testing::test_file("fuzz/graphs.py").string(), fmt::format("{}", options.count),
               fmt::format("{}", options.seed), graphs.string()};
  make.deadline = std::chrono::minutes(20);
  KW_TRY(const CommandOutcome made, run_command(make));
  if (!made.succeeded()) return internal_error("graphs.py failed: " + made.err);
  GraphFuzz fuzz(*evaluator, pool, options);
  int passed = 0, failed = 0;
  for (int i = 0; i < options.count; ++i) {
    const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(i);
    const std::string trouble = fuzz.run(graphs / fmt::format("graph_{}.py", seed), seed);
    trouble.empty() ? ++passed : ++failed;
    if (!trouble.empty()) fmt::print("FAILED graph {}: {}\n", seed, trouble);
    if ((i + 1) % 100 == 0) fmt::print("{} of {} done, {} failed\n", i + 1, options.count, failed);
    std::fflush(stdout);
  }
  fmt::print("{} passed, {} failed\n", passed, failed);
  return failed == 0 && passed > 0;
}

}  // namespace
}  // namespace kw

int main(int argc, char** argv) {
  kw::Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string word = argv[i];
    if (word == "--count") options.count = std::atoi(argv[i + 1]);
    if (word == "--seed") options.seed = std::strtoull(argv[i + 1], nullptr, 10);
    if (word == "--keep") options.keep = argv[i + 1];
    if (word == "--without") options.without = argv[i + 1];
    if (word == "--problems") options.problems = argv[i + 1];
    if (word == "--measure") options.measure = std::strtod(argv[i + 1], nullptr);
  }
  const auto outcome = kw::run(options);
  if (!outcome) return fmt::print(stderr, "{}\n", outcome.error().message), 3;
  return *outcome ? 0 : 1;
}
