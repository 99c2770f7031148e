// Who won: the best individuals timed once more side by side, then one of them confirmed with inputs that nothing has seen.
#pragma once

#include "record/run.h"
#include "search/trials.h"

namespace kw {

// Passed individuals, best first; of those with the same code only one.
std::vector<const Individual*> ranked(const std::vector<Individual>& individuals);

struct Winner {
  std::int64_t index = -1;
  std::optional<Evaluation> confirmed;
  std::vector<std::string> notes;  // what was passed over, and why
};

// Tries from the best down until one holds.
Result<Winner> confirm_winner(Evaluator& evaluator, const ProblemSource& problem, const std::vector<Individual>& individuals,
                              const Trials& trials, const std::string& command, double seconds_per_baseline);

}  // namespace kw
