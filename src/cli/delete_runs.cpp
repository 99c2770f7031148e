#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "archive/archive.h"
#include "cli/commands.h"

namespace kw {
namespace {

// The runs that are asked for, and the searches on their sub-problems.
Result<std::vector<RunRecord>> runs_to_delete(const RunArchive& archive, const std::vector<std::string>& ids) {
  const std::set<std::string> asked(ids.begin(), ids.end());
  std::vector<RunRecord> found;
  for (const std::string& id : asked) {
    KW_TRY(auto run, archive.find(id));
    if (!run) return bad_input(fmt::format("there is no run {}", id), "kernelwright runs lists them");
    const std::string& whole = run->options.part_of;
    if (!whole.empty() && !asked.contains(whole)) {
      KW_TRY(const auto parent, archive.find(whole));
      if (parent)
        return bad_input(fmt::format("run {} is the search on a sub-problem of run {}", id, whole),
                         fmt::format("kernelwright runs --delete {}: its sub-problems go with it", whole));
    }
    KW_TRY(auto parts, archive.parts_of(run->id));
    found.push_back(std::move(*run));
    for (RunRecord& part : parts) found.push_back(std::move(part));
  }
  const auto by_number = [](const RunRecord& run) { return std::stoll(run.id); };
  std::ranges::sort(found, {}, by_number);
  const auto [first, last] = std::ranges::unique(found, {}, by_number);
  found.erase(first, last);
  return found;
}

bool agreed(const std::string& question) {
  fmt::print(stderr, "{} [y/N] ", question);
  std::fflush(stderr);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace

Result<int> delete_runs(const RunsOptions& options, Output& output) {
  KW_TRY(Archive archive, Archive::open(Archive::default_path()));
  RunArchive runs = archive.runs();
  KW_TRY(const auto found, runs_to_delete(runs, options.deleted));
  std::vector<RunLock> locks;
  std::vector<std::string> ids, words;
  for (const RunRecord& run : found) {
    KW_TRY(RunLock lock, RunLock::acquire(data_home() / "locks", run.id));
    locks.push_back(std::move(lock));
    ids.push_back(run.id);
    if (run.options.part_of.empty()) words.push_back(fmt::format("{} ({})", run.id, run.problem_name));
  }
  KW_TRY(const auto unfinished, runs.unfinished_after(ids));
  if (!unfinished.empty())
    return bad_input(
        fmt::format("run {} began with what these runs had taught, and is not finished: it could not go on as it began",
                    fmt::join(unfinished, ", ")),
        fmt::format("finish it (kernelwright optimize --resume {}), or delete it too", unfinished.front()));
  const std::size_t parts = ids.size() - words.size();
  const std::string what = fmt::format("run{} {}{}", words.size() == 1 ? "" : "s", fmt::join(words, ", "),
                                       parts == 0 ? "" : fmt::format(" and {} of sub-problems", parts));
  if (!options.yes) {
    if (output.json() || ::isatty(0) == 0)
      return bad_input(fmt::format("{} would be deleted with all kernels, and nobody can be asked here", what),
                       "add --yes to delete without being asked");
    if (!agreed(fmt::format("Delete {}, with all kernels, exchanges and rows of the ledger?", what))) {
      output.result("nothing was deleted\n", {{"deleted", Json::array()}});
      return kNotPassed;
    }
  }
  KW_CHECK(runs.remove(ids));
  for (const RunLock& lock : locks) lock.remove_file();
  archive.compact();
  output.result(fmt::format("deleted {}; verdicts and timings of single kernels stay\n", what), {{"deleted", ids}});
  return kPassed;
}

}  // namespace kw
