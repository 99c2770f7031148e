#include "suite/suite.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/duration.h"
#include "base/work_limit.h"
#include "machine/machine_cache.h"
#include "search/final_source.h"
#include "suite/problem_folder.h"
#include "suite/suite_journal.h"

namespace kw {
namespace {

constexpr int kMostSessions = 12;  // that may end at a problem one after the other with nothing got done: more than a person kills

class Suite {
 public:
  Suite(const SuiteRequest& request, const std::function<void(const SuiteProgress&)>& on_progress, const std::atomic<bool>& stop)
      : request_(request), on_progress_(on_progress), stop_(stop), oracle_(OracleOptions{request.settings.threads, {}, {}}) {}

  Result<SuiteOutcome> whole() {
    const WorkLimit interruption(std::nullopt, &stop_);
    KW_TRY(const ProblemFolder folder, problems_in(request_.folder));
    KW_TRY(const std::vector<std::string> names, wanted_in(folder));
    KW_TRY(machine_, this_machine({}));
    KW_TRY(SuiteJournal journal,
           SuiteJournal::open(request_.results, blank(folder), request_.again ? names : std::vector<std::string>()));
    std::vector<const FolderProblem*> open;
    for (const FolderProblem& problem : folder.problems)
      if (is_wanted(problem.name, request_.only) && journal.row_of(problem.name, problem.hash) == nullptr) open.push_back(&problem);
    count_ = open.size();
    for (const FolderProblem* problem : open) {
      if (stop_) break;
      ++position_;
      KW_CHECK(judge(*problem, journal));
    }
    const auto has_passed = [&](const std::string& name) {
      return std::ranges::any_of(journal.record().rows, [&](const SuiteRow& row) { return row.problem == name && row.passed(); });
    };
    return SuiteOutcome{journal.record(), std::ranges::all_of(names, has_passed), stop_};
  }

 private:
  // Looked at before anything is written: a word that fits nothing is a slip, and results among the problems would become some.
  [[nodiscard]] Result<std::vector<std::string>> wanted_in(const ProblemFolder& folder) const {
    std::error_code gone;
    if (fs::equivalent(request_.folder, request_.results, gone))
      return bad_input(fmt::format("{}: results cannot lie in the folder of the problems itself", request_.results.string()),
                       "use another folder with --out");
    std::vector<std::string> names;
    for (const FolderProblem& problem : folder.problems)
      if (is_wanted(problem.name, request_.only)) names.push_back(problem.name);
    if (names.empty())
      return bad_input(fmt::format("{}: no problem has {} in its name", request_.folder.string(), fmt::join(request_.only, " or ")),
                       fmt::format("the first of its {} is {}", folder.problems.size(), folder.problems[0].name));
    return names;
  }

  [[nodiscard]] SuiteRecord blank(const ProblemFolder& folder) const {
    SuiteRecord record;
    record.name = name_of_folder(request_.folder);
    record.settings = request_.settings;
    record.machine = fmt::format("{}, {} core{}", machine_.cpu_model, machine_.cores, machine_.cores == 1 ? "" : "s");
    for (const FolderProblem& problem : folder.problems) record.problems.push_back(problem.name);
    record.skipped = folder.skipped;
    return record;
  }

  void say(const SuiteJournal& journal, const std::string& problem, const std::string& doing, const RunProgress* run,
           const SuiteRow* finished) {
    if (on_progress_) on_progress_({&journal.record(), position_, count_, problem, doing, run, finished});
  }

  // An error ends the suite: the results cannot be written. All else is a row.
  Status judge(const FolderProblem& problem, SuiteJournal& journal) {
    KW_CHECK(journal.begin(problem.name, problem.hash));
    const SuiteUnderWay under_way = *journal.record().under_way;
    SuiteRow row;
    row.problem = problem.name;
    row.hash = problem.hash;
    row.run = under_way.run;
    if (under_way.sessions > kMostSessions) {
      row.outcome = "error";
      row.message =
          fmt::format("the program was ended {} times at this problem before a kernel was done; it is left out", kMostSessions);
    } else if (!problem.flaw.empty()) {
      row.outcome = "error";
      row.message = problem.flaw;
    } else {
      const auto begin = std::chrono::steady_clock::now();
      KW_TRY(const bool is_done, search(problem, under_way, journal, row));
      if (!is_done) return {};
      if (row.spent_seconds == 0) row.spent_seconds = seconds_since(begin);
    }
    KW_CHECK(journal.end(row));
    say(journal, problem.name, "", nullptr, &row);
    return {};
  }

  // False: it was interrupted, and the next session goes on with it.
  Result<bool> search(const FolderProblem& problem, const SuiteUnderWay& under_way, SuiteJournal& journal, SuiteRow& row) {
    const auto failed = [&](const Error& error) {
      row.outcome = "error";
      row.message = error.hint.empty() ? error.message : fmt::format("{}; try: {}", error.message, error.hint);
    };
    auto outcome = run_of(problem, under_way, journal, row);
    KW_CHECK(std::exchange(journal_failure_, {}));
    // What fails while it is being ended says nothing about the problem: Ctrl-C reaches the processes that work for it, too.
    if (stop_ && (!outcome || outcome->run.state != "done")) {
      KW_CHECK(journal.pause());
      return false;
    }
    if (!outcome) {
      failed(outcome.error());
      return true;
    }
    KW_CHECK(journal.add_torch(outcome->run.torch_version));
    KW_CHECK(fill(*outcome, row));
    return true;
  }

  // The run that is under way goes on with the size that it has: by the clock, it would be another each time.
  Result<RunOutcome> run_of(const FolderProblem& problem, const SuiteUnderWay& under_way, SuiteJournal& journal, SuiteRow& row) {
    Status noted;
    const auto watch = [&](const RunProgress& progress) {
      if (noted.ok() && !progress.run->id.empty()) noted = journal.note(progress.run->id, progress.evaluations);
      say(journal, problem.name, "", &progress, nullptr);
    };
    const auto whole = [&](const fs::path& file, const std::string& resume) -> Result<RunOutcome> {
      auto outcome = run_search(request_for(file, resume), watch, stop_);
      if (!noted.ok()) journal_failure_ = noted;
      return outcome;
    };
    if (!under_way.run.empty()) {
      row.scaling = under_way.scaling;
      auto resumed = whole("", under_way.run);
      if (resumed || stop_) return resumed;  // otherwise the run may be gone from the archive, or not be what it was
    }
    say(journal, problem.name, request_.scale.any() ? "looking for its size" : "starting", nullptr, nullptr);
    KW_TRY(const ScaledProblem scaled,
           scaled_problem(oracle_, problem.file, request_.scale, request_.results / "problems" / (problem.name + ".py")));
    row.scaling = scaled.words;
    if (Status kept = journal.scaled(row.scaling); !kept.ok()) journal_failure_ = std::move(kept);
    return whole(scaled.file, "");
  }

  [[nodiscard]] RunRequest request_for(const fs::path& file, const std::string& resume) const {
    const SuiteSettings& settings = request_.settings;
    RunRequest request;
    request.problem_file = resume.empty() ? file.string() : "";
    request.resume = resume;
    request.options.search = settings.search;
    request.options.seconds = settings.seconds;
    request.options.evaluations = settings.evaluations;
    request.options.seed = settings.seed;
    request.options.precision = request.evaluator.precision = settings.precision;
    request.options.threads = request.evaluator.threads = settings.threads;
    request.evaluator.compile = settings.compile;
    request.evaluator.unsafe_no_sandbox = request_.unsafe_no_sandbox;
    return request;
  }

  Status fill(const RunOutcome& outcome, SuiteRow& row) const {
    const RunRecord& run = outcome.run;
    row.run = run.id;
    row.zone = run.zone;
    row.evaluations = static_cast<std::int64_t>(outcome.individuals.size());
    row.spent_seconds = run.elapsed_seconds;
    if (run.winner < 0 || !run.confirmed) {
      row.outcome = "failed";
      row.message = outcome.individuals.empty() ? run.ending : why_none(outcome);
      return {};
    }
    const Individual& winner = outcome.individuals[static_cast<std::size_t>(run.winner)];
    row.outcome = "passed";
    row.author = winner.proposal.author.empty() ? "playbook" : winner.proposal.author;
    row.seconds = run.confirmed->seconds;
    row.share_of_ceiling = run.confirmed->share_of_ceiling;
    for (const Comparison& comparison : run.confirmed->comparisons)
      (comparison.baseline == "eager" ? row.eager : row.compile) = {comparison.speedup, comparison.interval};
    row.kernel = fmt::format("kernels/{}.cpp", row.problem);
    const fs::path file = request_.results / row.kernel;
    KW_CHECK(make_folders(file.parent_path()));
    return write_file_atomically(file, handed_over(run, winner, machine_));
  }

  // The last diagnosis stands for all: kernels of one problem mostly fail for the same reason.
  static std::string why_none(const RunOutcome& outcome) {
    const auto& individuals = outcome.individuals;
    const Individual& last = individuals.back();
    if (std::ranges::any_of(individuals, &Individual::passed) && !outcome.notes.empty())
      return fmt::format("none of {} kernels held: {}", individuals.size(), outcome.notes.back());
    return fmt::format("none of {} kernels passed; the last one: {}", individuals.size(),
                       last.diagnosis.empty() ? std::string(name_of(last.verdict)) : last.diagnosis);
  }

  const SuiteRequest& request_;
  const std::function<void(const SuiteProgress&)>& on_progress_;
  const std::atomic<bool>& stop_;
  OracleClient oracle_;  // for the sizes of problems; searches have their own
  Machine machine_;
  Status journal_failure_;  // of a step within a search
  std::size_t position_ = 0, count_ = 0;
};

}  // namespace

Result<SuiteOutcome> run_suite(const SuiteRequest& request, const std::function<void(const SuiteProgress&)>& on_progress,
                               const std::atomic<bool>& stop) {
  return Suite(request, on_progress, stop).whole();
}

}  // namespace kw
