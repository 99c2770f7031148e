#include "search/baseline_ahead.h"

#include "base/cores.h"
#include "base/work_limit.h"
#include "machine/machine_lock.h"

namespace kw {
namespace {

// Failures say nothing here: the confirmation loads the baseline itself and tells.
void translate(const OracleOptions& options, const Json& request) {
  const auto lock = MachineLock::acquire();
  if (!lock) return;
  OracleClient oracle(options);
  (void)oracle.ask("baseline_load", request).ok();
}

}  // namespace

BaselineAhead::BaselineAhead(const Evaluator& evaluator, const ProblemSource& problem, const TensorSet& set, double most_seconds) {
  OracleOptions options{evaluator.threads(), usable_cores(evaluator.threads()), {}};
  Json request{{"problem", problem.description.file},
               {"folders", Json::array({set.folder.string()})},
               {"mode", "compile"},
               {"threads", evaluator.threads()},
               {"outputs_alive", 1}};
  const auto until =
      WorkLimit::Clock::now() + std::chrono::duration_cast<WorkLimit::Clock::duration>(std::chrono::duration<double>(most_seconds));
  thread_ = std::thread([this, until, ours = WorkLimit::current(), options = std::move(options), request = std::move(request)] {
    const WorkLimit taken(ours);
    const WorkLimit wanted(until, &unwanted_);
    translate(options, request);
  });
}

BaselineAhead::~BaselineAhead() {
  unwanted_ = true;
  thread_.join();
}

std::unique_ptr<BaselineAhead> BaselineAhead::where_it_pays(const Evaluator& evaluator, const ProblemSource& problem,
                                                            const TimingSets& sets, std::optional<double> seconds_left) {
  constexpr double kLeastSeconds = 45, kMostOfTheTime = 0.2,
                   kShareOfMemory = 0.03;  // of what a call reads and writes: a draw's references are larger
  const double most_bytes = kShareOfMemory * static_cast<double>(evaluator.machine().memory_bytes);
  if (!evaluator.options().compile || sets.sets.empty() || problem.description.bytes > most_bytes) return nullptr;
  if (seconds_left.value_or(0) < kLeastSeconds) return nullptr;
  return std::make_unique<BaselineAhead>(evaluator, problem, sets.sets.front(), kMostOfTheTime * *seconds_left);
}

}  // namespace kw
