// How long from a kernel's source to its verdict and timing: here, and through PyTorch's load_inline with as many checks and
// timed calls. Exit status 0 when everything ran; with --strict also only when the goal was met.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/cores.h"
#include "measure/statistics.h"
#include "turnaround/load_inline_side.h"

namespace {

using namespace kw;
using namespace kw::turnaround;

constexpr double kGoal = 15;

// A pointwise kernel, a row-wise one and a product, each as it stands in the tests.
Result<std::vector<Case>> usual_cases() {
  KW_TRY(const fs::path root, install_root());
  const fs::path tests = root / "tests";
  return std::vector<Case>{{"pointwise", tests / "problems/scale_relu.py", tests / "honest/scale_relu_parallel.cpp"},
                           {"softmax", tests / "problems/row_softmax.py", tests / "honest/softmax_polynomial.cpp"},
                           {"matmul", tests / "problems/matmul.py", tests / "honest/matmul_register_tile.cpp"}};
}

template <typename Rounds, typename Field>
double median_of(const Rounds& rounds, Field field) {
  std::vector<double> values;
  for (const auto& round : rounds) values.push_back(field(round));
  return median(values);
}

// Medians over the rounds; true when every kernel reached the goal.
bool print_table(const std::vector<HereSide>& here, const std::vector<ThereSide>& there) {
  fmt::print("\nfrom source to verdict and timing, seconds\n");
  fmt::print("{:<12} {:>8} {:>12} {:>8}   {:>6} {:>12}\n", "kernel", "here", "load_inline", "ratio", "checks", "timed calls");
  bool met = true;
  for (std::size_t i = 0; i < here.size(); ++i) {
    const double ours = median_of(here[i].rounds, [](const Round& round) { return round.seconds; });
    const double theirs = median_of(there[i].rounds, [](const ThereRound& round) { return round.seconds; });
    met = met && theirs >= kGoal * ours;
    fmt::print("{:<12} {:>8.2f} {:>12.2f} {:>7.1f}x   {:>6} {:>12}\n", here[i].which.name, ours, theirs, theirs / ours,
               here[i].checks, here[i].calls);
  }
  return met;
}

void print_stages(const std::vector<HereSide>& here, const std::vector<ThereSide>& there) {
  fmt::print("\nthe stages here, seconds\n");
  fmt::print("{:<12} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}   {:>15}\n", "kernel", "compile", "run", "compare", "sets", "timing",
             "other", "speedup (eager)");
  for (const auto& side : here) {
    const auto stage = [&](double Stages::*field) {
      return median_of(side.rounds, [&](const Round& round) { return round.stages.*field; });
    };
    fmt::print("{:<12} {:>8.3f} {:>8.3f} {:>8.3f} {:>8.3f} {:>8.3f} {:>8.3f}   {:>14.2f}x\n", side.which.name,
               stage(&Stages::compile), stage(&Stages::run), stage(&Stages::compare), stage(&Stages::sets), stage(&Stages::timing),
               stage(&Stages::other), side.speedup);
  }
  fmt::print("\nthe stages of load_inline, seconds\n");
  fmt::print("{:<12} {:>8} {:>8} {:>8}   {:>15}\n", "kernel", "compile", "check", "timing", "speedup (eager)");
  for (const auto& side : there) {
    const auto stage = [&](double ThereRound::*field) {
      return median_of(side.rounds, [&](const ThereRound& round) { return round.*field; });
    };
    fmt::print("{:<12} {:>8.3f} {:>8.3f} {:>8.3f}   {:>14.2f}x\n", side.name, stage(&ThereRound::compile),
               stage(&ThereRound::check), stage(&ThereRound::timing), stage(&ThereRound::speedup));
  }
}

Result<bool> run(const std::vector<Case>& cases, const HereOptions& options) {
  KW_TRY(const TempFolder home, TempFolder::make("kw-turnaround-home"));
  ::setenv("KERNELWRIGHT_HOME", home.path().c_str(), 1);
  fmt::print("turnaround: {} kernel{}, median of {} round{}, {} s of timing against eager (or 6 pairs, if longer)\n", cases.size(),
             cases.size() == 1 ? "" : "s", options.rounds, options.rounds == 1 ? "" : "s", options.seconds_per_baseline);
  std::fflush(stdout);
  KW_TRY(const auto here, run_here(cases, options));
  fmt::print("done here; now through load_inline, which compiles PyTorch's headers {} times\n",
             static_cast<int>(cases.size()) * options.rounds);
  std::fflush(stdout);
  const int threads = static_cast<int>(usable_cores().size());
  KW_TRY(const auto there, run_load_inline(here, options.rounds, threads));
  const bool met = print_table(here, there);
  print_stages(here, there);
  for (const auto& side : here)
    if (std::any_of(side.rounds.begin(), side.rounds.end(), [](const Round& round) { return round.waited; }))
      fmt::print("\nnote: {} waited for another timing on this machine: run this again when it is idle\n", side.which.name);
  fmt::print("\ngoal: at least {:.0f}x for every kernel: {}\n", kGoal, met ? "met" : "NOT MET");
  return met;
}

int fail(const Error& error) {
  fmt::print(stderr, "turnaround_bench: {}\n", error.message);
  if (!error.hint.empty()) fmt::print(stderr, "  {}\n", error.hint);
  return error.kind == ErrorKind::bad_input ? 2 : 3;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("From source to verdict and timing: here, and through PyTorch's load_inline", "turnaround_bench");
  HereOptions options;
  std::string only;
  std::vector<std::string> pair;
  bool strict = false;
  app.add_option("--rounds", options.rounds, "evaluations of each kernel on each side")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--time", options.seconds_per_baseline, "seconds of timing against eager; 6 pairs are made in any case")
      ->check(CLI::Range(0.1, 60.0))
      ->capture_default_str();
  app.add_option("--only", only, "pointwise, softmax or matmul");
  app.add_option("--pair", pair, "a problem and a kernel of yours instead (float32 tensors, no kw_prepare)")->expected(2);
  app.add_flag("--strict", strict, "exit with 1 when the goal was missed");
  CLI11_PARSE(app, argc, argv);

  auto cases = usual_cases();
  if (!cases) return fail(cases.error());
  if (!pair.empty()) *cases = {{fs::path(pair[1]).stem().string(), pair[0], pair[1]}};
  if (!only.empty()) std::erase_if(*cases, [&](const Case& each) { return each.name != only; });
  if (cases->empty()) return fail(bad_input(fmt::format("--only {} names no kernel", only), "use pointwise, softmax or matmul"));
  const auto met = run(*cases, options);
  if (!met) return fail(met.error());
  return strict && !*met ? 1 : 0;
}
