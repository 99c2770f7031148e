// One search on one problem, from the problem's file to an archived result; it can be stopped at any moment and resumed.
#pragma once

#include <atomic>
#include <functional>

#include "llm/model.h"
#include "record/run.h"
#include "search/evaluator.h"
#include "search/trials.h"

namespace kw {

struct RunRequest {
  std::string problem_file;  // empty with `resume`
  RunOptions options;
  std::string resume;      // a run's id; its options count, with a new limit where one is given
  bool more_time = false;  // options.seconds and options.evaluations were given: they add to what a resumed run has spent
  EvaluatorOptions evaluator;
  Model* model = nullptr;       // takes part in the search; none: the playbook alone
  Evaluator* shared = nullptr;  // of a run whose sub-problem this is; none: one is opened
};

// What can be seen of a run while it goes on.
struct RunProgress {
  const RunRecord* run = nullptr;
  std::string phase;           // of the policy: "generation 3"
  std::string doing;           // what is being waited for
  bool is_confirming = false;  // the search is over
  const Individual* best = nullptr;
  int evaluations = 0;
  double elapsed_seconds = 0;           // over all sessions
  std::map<std::string, int> failures;  // by verdict
  std::optional<double> seconds_left;
};

struct RunOutcome {
  RunRecord run;
  std::vector<Individual> individuals;
  std::optional<Evaluation> winner;  // as it was confirmed; none when no kernel passed
  TrialClock clock;
  std::vector<std::string> notes;
  std::vector<Exchange> exchanges;  // with the model, of all sessions of the run
};

// `stop` may be set from a signal's handler: the run then ends with the best so far.
Result<RunOutcome> run_search(const RunRequest& request, const std::function<void(const RunProgress&)>& on_progress,
                              const std::atomic<bool>& stop);

}  // namespace kw
