// Five typical convolutions by the embedded playbook, without a search, against eager's library: GFLOP/s of both beside the
// measured peak.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "search/coder.h"
#include "search/evaluator.h"
#include "search/trials.h"
#include "strategy/condition.h"
#include "strategy/pool.h"

namespace {

using namespace kw;

constexpr double kGoal = 0.9;  // of eager, each

const std::vector<std::string> kProblems{"square", "pointwise", "stem", "depthwise", "cube"};

double peak_of(const Machine& machine, int threads) {
  double best = 0;
  for (const FmaPeak& peak : machine.peaks)
    if (peak.threads == threads) best = std::max(best, peak.gflops);
  return best;
}

// Every strategy whose conditions hold; what does not fit is not done.
Result<Kernel> kernel_of(const Coder& coder, const StrategyPool& pool) {
  std::vector<std::string> fitting;
  for (const Strategy& strategy : pool.all())
    if (strategy.target == "cpu" && conditions_hold(strategy.when, coder.features())) fitting.push_back(strategy.id);
  return coder.write(fitting);
}

Result<double> measured(Evaluator& evaluator, const StrategyPool& pool, const fs::path& file) {
  KW_TRY(const ProblemSource source, evaluator.problem(file));
  KW_TRY(const auto coder, playbook_coder(source.description, evaluator.machine(), evaluator.threads()));
  KW_TRY(const Kernel kernel, kernel_of(*coder, pool));
  KW_TRY(auto candidate, Trials::candidate_of(kernel, {}));
  KW_TRY(const Evaluated evaluated, evaluator.measure(source, candidate, "conv_bench"));
  const std::string name = file.stem().string();
  if (!evaluated.evaluation.timing) {
    fmt::print("{:<12} {}: {}\n", name, name_of(evaluated.evaluation.verdict.verdict),
               evaluated.evaluation.verdict.diagnosis.summary);
    return 0.0;
  }
  const Comparison& eager = evaluated.evaluation.timing->comparisons.front();
  const double work = source.description.flops.value_or(0) / 1e9;
  fmt::print("{:<12} {:>8.2f} {:>10.1f} {:>10.1f} {:>10.1f}   {:>5.2f}x ({:.2f} to {:.2f})\n", name, work,
             work / eager.baseline_seconds, work / eager.candidate_seconds, peak_of(evaluator.machine(), evaluator.threads()),
             eager.speedup, eager.interval.low, eager.interval.high);
  std::fflush(stdout);
  return eager.speedup;
}

Result<bool> run(const std::vector<std::string>& problems, double seconds) {
  KW_TRY(const TempFolder home, TempFolder::make("kw-conv-home"));
  ::setenv("KERNELWRIGHT_HOME", home.path().c_str(), 1);
  KW_TRY(const fs::path root, install_root());
  EvaluatorOptions options;
  options.seconds_per_baseline = seconds;
  options.compile = false;
  KW_TRY(const auto evaluator, Evaluator::open(options));
  KW_TRY(const StrategyPool pool, StrategyPool::load_own());
  fmt::print("{:<12} {:>8} {:>10} {:>10} {:>10}   over eager (95%)\n{:<12} {:>8} {:>10} {:>10} {:>10}\n", "convolution", "GFLOP",
             "eager", "kernel", "peak", "", "", "GFLOP/s", "GFLOP/s", "GFLOP/s");
  bool met = true;
  double logs = 0;
  for (const std::string& name : problems) {
    KW_TRY(const double speedup, measured(*evaluator, pool, root / "bench" / "conv" / "problems" / (name + ".py")));
    met = met && speedup >= kGoal;
    logs += std::log(std::max(speedup, 1e-9));
  }
  fmt::print("geometric mean {:.2f}x; goal {} of eager each: {}\n", std::exp(logs / static_cast<double>(problems.size())), kGoal,
             met ? "met" : "missed");
  return met;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Five typical convolutions against eager's library, beside the measured peak", "conv_bench");
  std::vector<std::string> problems = kProblems;
  double seconds = 8;
  bool strict = false;
  app.add_option("--only", problems, "files of bench/conv/problems, without .py")->check(CLI::IsMember(kProblems));
  app.add_option("--time", seconds, "seconds of timing each")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_flag("--strict", strict, "exit with 1 when the goal was missed");
  CLI11_PARSE(app, argc, argv);
  const auto met = run(problems, seconds);
  if (!met) {
    fmt::print(stderr, "conv_bench: {}\n", met.error().message);
    return met.error().kind == ErrorKind::bad_input ? 2 : 3;
  }
  return strict && !*met ? 1 : 0;
}
