#include <algorithm>

#include <fmt/format.h>

#include "base/hash.h"
#include "cli/commands.h"
#include "cli/view_commands.h"
#include "record/standing.h"
#include "report/compare_text.h"
#include "report/run_json.h"
#include "report/run_text.h"
#include "search/final_source.h"

namespace kw {
namespace {

constexpr int kAllRuns = 1'000'000;

const Comparison* over_eager(const RunRecord& run) { return comparison_with(run.confirmed, "eager"); }

// A problem is named by its file, whose text counts, or by its name.
Result<std::vector<RunRecord>> runs_of(Archive& archive, const std::string& problem) {
  std::string hash;
  const bool is_file = fs::is_regular_file(problem);
  if (is_file) {
    KW_TRY(const std::string text, read_file(problem));
    hash = sha256(text);
  }
  KW_TRY(const auto summaries, archive.runs().list(kAllRuns));
  std::vector<RunRecord> found;
  bool had_other_text = false;
  for (const RunSummary& summary : summaries) {
    if (is_file ? summary.run.problem_hash == hash : summary.run.problem_name == problem) found.push_back(summary.run);
    had_other_text = had_other_text || (is_file && summary.run.problem_name == fs::path(problem).stem().string());
  }
  if (found.empty() && had_other_text)
    return bad_input(fmt::format("{} has changed since it was searched", problem), "kernelwright optimize " + problem);
  if (found.empty()) return bad_input(fmt::format("no run has searched a kernel for {}", problem), "kernelwright runs lists them");
  return found;
}

}  // namespace

Result<int> run_compare(const CompareOptions& options, Output& output) {
  KW_TRY(Archive archive, Archive::open_to_read(Archive::default_path()));
  KW_TRY(const RunView first, run_view(archive, options.first, Sources::without));
  KW_TRY(const RunView second, run_view(archive, options.second, Sources::without));
  output.result(compare_text(first, second, output.paint()), compare_json(first, second));
  return kPassed;
}

Result<int> run_best(const BestOptions& options, Output& output) {
  if (!options.out.empty()) KW_CHECK(check_out(options.out));
  KW_TRY(Archive archive, Archive::open_to_read(Archive::default_path()));
  KW_TRY(const auto runs, runs_of(archive, options.problem));
  const RunRecord* best = nullptr;
  int confirmed = 0;
  for (const RunRecord& run : runs) {
    if (run.options.precision != options.precision || !over_eager(run)) continue;
    ++confirmed;
    // By the lower end: a wide interval is no reason to be chosen.
    if (!best || over_eager(run)->interval.low > over_eager(*best)->interval.low) best = &run;
  }
  if (!best)
    return bad_input(fmt::format("no run has confirmed a kernel for {} with the precision {}", options.problem, options.precision),
                     fmt::format("kernelwright optimize {}", shown_path(runs.front().problem_file)));
  KW_TRY(const auto winner, archive.runs().individual(best->id, best->winner));
  KW_TRY(const auto machine, archive.find_machine(best->machine_id));
  if (!winner || !machine) return internal_error(fmt::format("the archive lacks the winner or the machine of run {}", best->id));
  if (!options.out.empty()) KW_CHECK(write_file_atomically(options.out, handed_over(*best, *winner, *machine)));
  const std::string& dsl = best->options.dsl;
  std::string text = first_line(*best, {}, output.paint());
  text += fmt::format("{}  run {}, kernel {}{}, of {} confirmed\n", output.paint().strong(best->problem_name), best->id,
                      best->winner, dsl == "cpp" ? "" : " in " + dsl, confirmed);
  text += text_of(*best->confirmed, output.paint());
  text += fmt::format("  {:<10}{}\n", "machine", machine->cpu_model);
  text += fmt::format("  {:<10}{}\n", "kernel",
                      options.out.empty() ? fmt::format("kernelwright show {} --kernel {}", best->id, best->winner) : options.out);
  output.result(text, {{"run", *best},
                       {"kernel", *winner},
                       {"kernel_file", options.out},
                       {"against_pytorch", standing_json(best->confirmed)},
                       {"confirmed_runs", confirmed}});
  return options.require_win && standing_of(best->confirmed) != Standing::faster ? kNotPassed : kPassed;
}

}  // namespace kw
