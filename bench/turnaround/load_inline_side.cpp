#include "turnaround/load_inline_side.h"

#include <sstream>

#include <fmt/format.h>

#include "base/subprocess.h"
#include "base/timing_environment.h"
#include "dsl/problem_header.h"

namespace kw::turnaround {
namespace {

// A compilation with PyTorch's headers takes up to a minute on a slow machine; this is for one that hangs.
constexpr std::chrono::minutes kPerRound{10};

Json strings_of(const std::vector<fs::path>& paths) {
  Json all = Json::array();
  for (const auto& path : paths) all.push_back(path.string());
  return all;
}

Json job_of(const HereSide& side) {
  Json checks = Json::array();
  for (int i = 0; i < side.checks; ++i)
    checks.push_back(side.check_folders[static_cast<std::size_t>(i) % side.check_folders.size()].string());
  return {{"name", side.which.name},
          {"problem", side.problem.file},
          {"kernel", side.kernel_text},
          {"header", problem_header(side.problem)},
          {"inputs", side.problem.inputs},
          {"parameters", side.problem.parameters},
          {"outputs", side.problem.outputs},
          {"checks", checks},
          {"timing", strings_of(side.timing_folders)},
          {"blocks", side.blocks},
          {"calls", side.calls}};
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return "it said nothing";
  const std::size_t start = text.rfind('\n', end);
  return text.substr(start == std::string::npos ? 0 : start + 1, end - (start == std::string::npos ? 0 : start + 1) + 1);
}

Result<std::string> run_python(const fs::path& job, int rounds, std::size_t cases, int threads) {
  KW_TRY(const std::string python, oracle_python());
  KW_TRY(const fs::path root, install_root());
  const fs::path script = root / "bench" / "turnaround" / "load_inline_side.py";
  Command command;
  command.argv = {python, script.string(), job.string()};
  command.environment = timing_environment();
  command.environment["OMP_NUM_THREADS"] = std::to_string(threads);
  command.environment["CCACHE_DISABLE"] = "1";  // a compiler behind ccache would remember an earlier benchmark
  command.environment["PYTHONDONTWRITEBYTECODE"] = "1";
  command.deadline = kPerRound * (static_cast<int>(cases) * rounds + 1);
  KW_TRY(const CommandOutcome outcome, run_command(command));
  if (!outcome.succeeded())
    return internal_error(
        fmt::format("{} failed: {}", script.string(), outcome.timed_out ? "it did not finish in time" : last_line(outcome.err)),
        "load_inline needs ninja, a compiler and Python's headers: tools/setup, or run the script by hand to see more");
  return outcome.out;
}

}  // namespace

Result<std::vector<ThereSide>> run_load_inline(const std::vector<HereSide>& cases, int rounds, int threads) {
  KW_TRY(const TempFolder folder, TempFolder::make("kw-load-inline"));
  Json job{{"rounds", rounds}, {"threads", threads}, {"folder", folder.path().string()}, {"cases", Json::array()}};
  std::vector<ThereSide> sides;
  for (const auto& side : cases) {
    job["cases"].push_back(job_of(side));
    sides.push_back({side.which.name, {}});
  }
  KW_CHECK(write_file_atomically(folder.path() / "job.json", job.dump()));
  KW_TRY(const std::string out, run_python(folder.path() / "job.json", rounds, cases.size(), threads));

  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() != '{') continue;
    KW_TRY(const Json json, parse_json(line, "load_inline_side.py's answer"));
    KW_TRY(
        const bool read, read_fields("load_inline_side.py's answer", [&] {
          sides.at(json.at("case").get<std::size_t>())
              .rounds.push_back({json.at("seconds"), json.at("compile"), json.at("check"), json.at("timing"), json.at("speedup")});
          return true;
        }));
    (void)read;
  }
  for (const auto& side : sides)
    if (static_cast<int>(side.rounds.size()) != rounds)
      return internal_error(
          fmt::format("load_inline_side.py answered {} of {} rounds of {}", side.rounds.size(), rounds, side.name));
  return sides;
}

}  // namespace kw::turnaround
