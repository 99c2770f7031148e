// How many candidates a minute a search evaluates end to end on small kernels, and where the time goes.
#include <atomic>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "search/run.h"

namespace {

using namespace kw;

constexpr double kGoal = 20;  // candidates a minute

Result<bool> run(const std::vector<std::string>& problems, int evaluations) {
  KW_TRY(const TempFolder home, TempFolder::make("kw-throughput-home"));
  ::setenv("KERNELWRIGHT_HOME", home.path().c_str(), 1);
  KW_TRY(const fs::path root, install_root());
  const std::atomic<bool> stop{false};
  bool met = true;
  fmt::print("{:<16} {:>10} {:>8}   seconds a candidate: {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "problem", "a minute", "of",
             "writing", "compiling", "reading", "verifying", "timing", "archiving");
  for (const std::string& name : problems) {
    RunRequest request;
    request.problem_file = (root / "tests" / "problems" / (name + ".py")).string();
    request.options.search = "random";
    request.options.seed = 1;
    request.options.evaluations = evaluations;
    KW_TRY(const RunOutcome outcome, run_search(request, {}, stop));
    const TrialClock& clock = outcome.clock;
    const auto count = static_cast<double>(outcome.individuals.size());
    const double spent = clock.writing + clock.compiling + clock.reading + clock.verifying + clock.timing + clock.archiving;
    const double rate = 60 * count / spent;
    met = met && rate >= kGoal;
    fmt::print("{:<16} {:>10.1f} {:>8}                        {:>8.3f} {:>8.3f} {:>8.3f} {:>8.3f} {:>8.3f} {:>8.3f}\n", name, rate,
               outcome.individuals.size(), clock.writing / count, clock.compiling / count, clock.reading / count,
               clock.verifying / count, clock.timing / count, clock.archiving / count);
  }
  fmt::print("goal: {} a minute: {}\n", kGoal, met ? "met" : "missed");
  return met;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Candidates a minute on small kernels, and where the time goes", "throughput_bench");
  std::vector<std::string> problems{"gelu", "row_softmax", "matmul"};
  int evaluations = 24;
  bool strict = false;
  app.add_option("--problem", problems, "files of tests/problems, without .py")->capture_default_str();
  app.add_option("--evaluations", evaluations, "candidates each")->capture_default_str();
  app.add_flag("--strict", strict, "exit with 1 when the goal was missed");
  CLI11_PARSE(app, argc, argv);
  const auto met = run(problems, evaluations);
  if (!met) {
    fmt::print(stderr, "throughput_bench: {}\n", met.error().message);
    return met.error().kind == ErrorKind::bad_input ? 2 : 3;
  }
  return strict && !*met ? 1 : 0;
}
