// How often a model's first kernel passes, and how often it does once the debugger has had its turns: the same attempts, judged
// twice. None of the problems is among the worked examples that the model is shown.
#include <atomic>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "llm/local_model.h"
#include "search/one_kernel.h"

namespace {

using namespace kw;

struct Options {
  std::vector<std::string> problems{"silu",    "row_norm",     "scaled_softmax", "matmul_transposed",  "affine_scalars",
                                    "abs_sum", "masked_where", "matvec",         "sum_and_difference", "batched_matmul"};
  ModelOptions model;
  int attempts = 6, seeds = 1;
  bool strict = false;
};

std::string counted(int passed, int of) { return fmt::format("{} of {}", passed, of); }

// Whether the debugger made kernels pass that did not at first.
Result<bool> run(const Options& options) {
  KW_TRY(const TempFolder home, TempFolder::make("kw-models-home"));
  ::setenv("KERNELWRIGHT_HOME", home.path().c_str(), 1);
  KW_TRY(const fs::path root, install_root());
  KW_TRY(const std::unique_ptr<Model> model, open_model(options.model));
  const std::atomic<bool> stop{false};
  int all = 0, at_once = 0, in_the_end = 0;
  fmt::print("{:<20} {:>4}  {:<15} {:<15} {:>7} {:>9} {:>8} {:>8}  faults\n", "problem", "seed", "first answer", "in the end",
             "kernels", "exchanges", "tokens", "seconds");
  for (int seed = 1; seed <= options.seeds; ++seed)
    for (const std::string& name : options.problems) {
      OneKernelRequest request;
      request.problem_file = (root / "tests" / "problems" / (name + ".py")).string();
      request.attempts = options.attempts;
      request.seed = static_cast<std::uint64_t>(seed);
      request.model = model.get();
      KW_TRY(const OneKernelOutcome outcome, one_kernel(
                                                 request, [](const std::string&) {}, stop));
      const Individual &first = outcome.attempts.front(), &last = outcome.attempts.back();
      std::int64_t tokens = 0;
      double seconds = 0;
      for (const Exchange& exchange : outcome.exchanges) {
        tokens += exchange.output_tokens;
        seconds += exchange.seconds;
      }
      std::vector<std::string> faults;
      for (const Individual& each : outcome.attempts) faults.insert(faults.end(), each.faults.begin(), each.faults.end());
      ++all;
      at_once += first.passed() ? 1 : 0;
      in_the_end += outcome.passed >= 0 ? 1 : 0;
      fmt::print("{:<20} {:>4}  {:<15} {:<15} {:>7} {:>9} {:>8} {:>8.0f}  {}\n", name, seed, name_of(first.verdict),
                 name_of(last.verdict), outcome.attempts.size(), outcome.exchanges.size(), tokens, seconds, fmt::join(faults, " "));
      std::fflush(stdout);
    }
  fmt::print("passed without the debugger: {}; with it: {} (at most {} kernels each)\n", counted(at_once, all),
             counted(in_the_end, all), options.attempts);
  return in_the_end > at_once;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("How often a model's kernels pass, at first and after repairs", "models_bench");
  Options options;
  options.model.model = "local";
  app.add_option("--problem", options.problems, "files of tests/problems, without .py")->capture_default_str();
  app.add_option("--model", options.model.model, "'local', or a provider's name for it")->capture_default_str();
  app.add_option("--base-url", options.model.base_url, "where the model is served");
  app.add_option("--attempts", options.attempts, "kernels for each problem, the first included")->capture_default_str();
  app.add_option("--seeds", options.seeds, "rounds over the problems, each with another seed")->capture_default_str();
  app.add_option("--record", options.model.record_file, "append every exchange to this file");
  app.add_option("--replay", options.model.replay_file, "answers come from this recording");
  app.add_flag("--strict", options.strict, "exit with 1 unless the debugger made more kernels pass");
  CLI11_PARSE(app, argc, argv);
  // `make bench` runs everything: without the model there is nothing to measure, and nothing wrong.
  if (const auto local = llm::local_parts(); options.model.replay_file.empty() && options.model.model == "local" &&
                                             options.model.base_url.empty() && local && !local->fetched()) {
    fmt::print("models_bench: the local model is not here; kernelwright model fetch gets it (1.1 GB)\n");
    return 0;
  }
  const auto better = run(options);
  if (!better) {
    fmt::print(stderr, "models_bench: {}{}{}\n", better.error().message, better.error().hint.empty() ? "" : "\n  ",
               better.error().hint);
    return better.error().kind == ErrorKind::bad_input ? 2 : 3;
  }
  return options.strict && !*better ? 1 : 0;
}
