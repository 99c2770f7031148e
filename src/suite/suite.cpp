#include "suite/suite.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/duration.h"
#include "machine/machine_cache.h"
#include "search/final_source.h"
#include "suite/problem_folder.h"
#include "suite/suite_journal.h"

namespace kw {
namespace {

constexpr int kMostSessions = 12;  // that may end at a problem one after the other with nothing got done: more than a person kills

bool is_wanted(const std::string& name, const std::vector<std::string>& only) {
  return only.empty() || std::ranges::any_of(only, [&](const std::string& part) { return name.find(part) != std::string::npos; });
}

class Suite {
 public:
  Suite(const SuiteRequest& request, const std::function<void(const SuiteProgress&)>& on_progress, const std::atomic<bool>& stop)
      : request_(request), on_progress_(on_progress), stop_(stop), oracle_(OracleOptions{request.settings.threads, {}, {}}) {}

  Result<SuiteOutcome> whole() {
    KW_TRY(const ProblemFolder folder, problems_in(request_.folder));
    KW_TRY(machine_, this_machine({}));
    KW_TRY(SuiteJournal journal, SuiteJournal::open(request_.results, blank(folder), request_.again));
    std::vector<const FolderProblem*> open;
    for (const FolderProblem& problem : folder.problems)
      if (is_wanted(problem.name, request_.only) && journal.row_of(problem.name, problem.hash) == nullptr) open.push_back(&problem);
    count_ = open.size();
    for (const FolderProblem* problem : open) {
      if (stop_) break;
      ++position_;
      KW_CHECK(judge(*problem, journal));
    }
    return SuiteOutcome{journal.record(), stop_};
  }

 private:
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
      row.message = error.message;
    };
    say(journal, problem.name, request_.scale.any() ? "looking for its size" : "starting", nullptr, nullptr);
    auto scaled = scaled_problem(oracle_, problem.file, request_.scale, request_.results / "problems" / (problem.name + ".py"));
    if (!scaled) {
      failed(scaled.error());
      return true;
    }
    row.scaling = scaled->words;
    Status noted;
    const auto watch = [&](const RunProgress& progress) {
      if (noted.ok() && !progress.run->id.empty()) noted = journal.note(progress.run->id, progress.evaluations);
      say(journal, problem.name, "", &progress, nullptr);
    };
    auto outcome = run_search(request_for(scaled->file, under_way.run), watch, stop_);
    if (!outcome && !under_way.run.empty())  // the run may be gone from the archive, or not be what it was
      outcome = run_search(request_for(scaled->file, ""), watch, stop_);
    KW_CHECK(std::move(noted));
    if (!outcome) {
      failed(outcome.error());
      return !stop_;
    }
    if (stop_ && outcome->run.state != "done") {
      KW_CHECK(journal.pause());
      return false;
    }
    KW_CHECK(journal.set_torch(outcome->run.torch_version));
    KW_CHECK(fill(*outcome, row));
    return true;
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
  std::size_t position_ = 0, count_ = 0;
};

}  // namespace

Result<SuiteOutcome> run_suite(const SuiteRequest& request, const std::function<void(const SuiteProgress&)>& on_progress,
                               const std::atomic<bool>& stop) {
  return Suite(request, on_progress, stop).whole();
}

}  // namespace kw
