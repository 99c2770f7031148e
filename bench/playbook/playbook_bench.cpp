// What `optimize` reaches on the problem set with the embedded playbook alone: a table against eager and torch.compile, with
// the geometric mean of each group and the goals of the project beside it.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <map>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/duration.h"
#include "report/numbers.h"
#include "search/run.h"

namespace {

using namespace kw;

std::atomic<bool> stop_wanted{false};

struct Group {
  std::string_view name;
  std::vector<std::string_view> problems;  // beginnings of file names in problems/
  double eager_goal;
  double compile_goal;  // 0: none
};

// Groups as the goals are stated.
const std::vector<Group>& groups() {
  static const std::vector<Group> all{
      {"dense products",
       {"level1/01", "level1/02", "level1/03", "level1/04", "level1/05", "level1/06", "level1/07", "level1/08", "level1/09",
        "level1/10", "level1/11"},
       0.9,
       0},
      {"products with an epilogue", {"level2/01", "level2/02", "level2/35"}, 1.0, 0},
      {"structured products", {"level1/12", "level1/13", "level1/14", "level1/15"}, 2.0, 0},
      {"convolutions",
       {"level1/17", "level1/18", "level1/19", "level1/20", "level1/21", "level1/22", "level1/23", "level1/24", "level1/25",
        "level1/26", "level1/27", "level1/28", "level1/29", "level1/30"},
       1.0,
       0},
      {"convolutions with an epilogue",
       {"level2/04", "level2/05", "level2/06", "level2/16", "level2/17", "level2/24", "level2/26", "level2/27", "level2/32",
        "level2/36", "level2/39"},
       1.0,
       0},
      {"pointwise",
       {"level1/16", "level1/31", "level1/32", "level1/33", "level1/34", "level1/35", "level1/36", "level1/37", "level1/38",
        "level1/39", "level1/40", "level1/41", "level1/42", "level1/43", "level1/44", "level1/45"},
       2.0,
       1.4},
      {"normalisations",
       {"level1/46", "level1/47", "level1/48", "level1/49", "level1/50", "level1/51", "level1/52", "level1/53"},
       2.0,
       1.4},
      {"pooling", {"level1/54", "level1/55", "level1/56", "level1/57", "level1/58", "level1/59", "level1/60"}, 2.0, 1.4},
      {"reductions",
       {"level1/61", "level1/62", "level1/63", "level1/64", "level1/65", "level1/66", "level1/67", "level1/68", "level1/69"},
       2.0,
       1.4},
      {"scans", {"level1/70", "level1/71", "level1/72", "level1/73", "level1/74"}, 2.0, 1.4},
      {"losses and softmax",
       {"level1/75", "level1/76", "level1/77", "level1/78", "level1/79", "level1/80", "level1/81", "level1/82", "level1/83",
        "level1/84"},
       2.0,
       1.4},
  };
  return all;
}

struct Options {
  std::string time = "60s";
  std::vector<std::string> only;  // parts of names
  std::uint64_t seed = 1;
  std::string search = "evolve";
};

struct Row {
  double eager = 0, compile = 0;
};

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return values.empty() ? 0 : std::exp(sum / static_cast<double>(values.size()));
}

Result<std::vector<fs::path>> files_of(const Group& group, const Options& options) {
  KW_TRY(const fs::path root, install_root());
  std::vector<fs::path> files;
  for (const std::string_view beginning : group.problems) {
    const fs::path pattern = root / "problems" / beginning;
    for (const auto& entry : entries_of(pattern.parent_path()))
      if (entry.path().filename().string().starts_with(pattern.filename().string() + "_")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  if (!options.only.empty())
    std::erase_if(files, [&](const fs::path& file) {
      return std::none_of(options.only.begin(), options.only.end(),
                          [&](const std::string& part) { return file.string().find(part) != std::string::npos; });
    });
  return files;
}

std::optional<Row> row_of(const fs::path& file, const Options& options, double seconds) {
  RunRequest request;
  request.problem_file = file.string();
  request.options.search = options.search;
  request.options.seed = options.seed;
  request.options.seconds = seconds;
  const auto outcome = run_search(request, {}, stop_wanted);
  const std::string name = file.parent_path().filename().string() + "/" + file.stem().string();
  if (!outcome) {
    fmt::print("{:<36} {}\n", name, outcome.error().message);
    return std::nullopt;
  }
  if (!outcome->run.confirmed) {
    fmt::print("{:<36} no kernel passed ({} tried)\n", name, outcome->individuals.size());
    return std::nullopt;
  }
  Row row;
  std::string text = fmt::format("{:<36}", name);
  for (const Comparison& comparison : outcome->run.confirmed->comparisons) {
    (comparison.baseline == "eager" ? row.eager : row.compile) = comparison.speedup;
    text += fmt::format(" {:>6.2f}x ({:.2f} to {:.2f})", comparison.speedup, comparison.interval.low, comparison.interval.high);
  }
  fmt::print("{}  {} a call, {:.0f}% of the ceiling, {} kernels in {:.0f} s\n", text,
             human_seconds(outcome->run.confirmed->seconds), outcome->run.confirmed->share_of_ceiling * 100,
             outcome->individuals.size(), outcome->run.elapsed_seconds);
  return row;
}

Result<bool> run(const Options& options) {
  KW_TRY(const double seconds, seconds_from_text(options.time));
  KW_TRY(const TempFolder home, TempFolder::make("kw-playbook-home"));
  ::setenv("KERNELWRIGHT_HOME", home.path().c_str(), 1);
  bool met = true;
  std::string summary;
  for (const Group& group : groups()) {
    KW_TRY(const auto files, files_of(group, options));
    if (files.empty() || stop_wanted) continue;
    fmt::print("\n{}: over eager, over torch.compile (95% intervals)\n", group.name);
    std::vector<double> eager, compile;
    for (const fs::path& file : files) {
      if (stop_wanted) break;
      const auto row = row_of(file, options, seconds);
      std::fflush(stdout);
      if (!row) continue;
      eager.push_back(row->eager);
      if (row->compile > 0) compile.push_back(row->compile);
    }
    const double over_eager = geometric_mean(eager), over_compile = geometric_mean(compile);
    const bool reached = eager.size() == files.size() && over_eager >= group.eager_goal &&
                         (group.compile_goal == 0 || over_compile >= group.compile_goal);
    met = met && reached;
    summary += fmt::format("{:<28} {:>2} of {:>2}   {:>5.2f}x (goal {:.1f})   {:>5.2f}x{}   {}\n", group.name, eager.size(),
                           files.size(), over_eager, group.eager_goal, over_compile,
                           group.compile_goal > 0 ? fmt::format(" (goal {:.1f})", group.compile_goal) : "           ",
                           reached ? "met" : "missed");
  }
  fmt::print("\n{:<28} {:>8}   {:<17} {}\n{}", "geometric means", "solved", "over eager", "over torch.compile", summary);
  return met;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("What optimize reaches with the embedded playbook, against eager and torch.compile", "playbook_bench");
  Options options;
  bool strict = false;
  app.add_option("--time", options.time, "the budget of each problem")->capture_default_str();
  app.add_option("--only", options.only, "problems whose path has this in it; may be repeated");
  app.add_option("--seed", options.seed, "of the searches")->capture_default_str();
  app.add_option("--search", options.search, "the policy")->capture_default_str();
  app.add_flag("--strict", strict, "exit with 1 when a goal was missed");
  CLI11_PARSE(app, argc, argv);
  ::signal(SIGINT, [](int) { stop_wanted = true; });
  const auto met = run(options);
  if (!met) {
    fmt::print(stderr, "playbook_bench: {}\n", met.error().message);
    return met.error().kind == ErrorKind::bad_input ? 2 : 3;
  }
  return strict && !*met ? 1 : 0;
}
