// Who won: the best individuals, from the top down, until one is confirmed with inputs that nothing has seen.
#pragma once

#include <functional>
#include <set>

#include "record/run.h"
#include "search/trials.h"

namespace kw {

// Passed individuals, best first; of those with the same code only one.
std::vector<const Individual*> ranked(const std::vector<Individual>& individuals);

inline constexpr std::size_t kMostConfirmations = 4;

// The fastest that was not tried and has nothing suspicious about it; the last is the one that does the least, which is the
// likeliest to be right where fast ones are not. -1: there is none.
std::int64_t next_to_confirm(const std::vector<Individual>& individuals, const std::set<std::int64_t>& tried,
                             const std::set<std::string>& suspects);

struct Winner {
  std::int64_t index = -1;
  std::optional<Evaluation> confirmed;
  std::vector<std::string> notes;  // what was passed over, and why
  std::optional<Error> ended;      // why the best was not confirmed: the work had to end
};

// The same proposal without these strategies, and without knobs that were set for them.
Proposal proposal_without(const Individual& individual, const std::vector<std::string>& strategies);

// What may have to be tried on the way: the individual with this index again, without the strategies that round otherwise. It is
// added to the individuals.
using TryWithout = std::function<Status(std::int64_t index, const std::vector<std::string>& strategies)>;
// Told which individual is about to be confirmed.
using OnConfirming = std::function<void(std::int64_t index)>;

// Tries from the best down until one holds. Where one is not precise enough, those that round in the same way are passed over.
Result<Winner> confirm_winner(Evaluator& evaluator, const ProblemSource& problem, const std::vector<Individual>& individuals,
                              const Trials& trials, const std::string& command, double seconds_per_baseline,
                              const OnConfirming& on_confirming, const TryWithout& try_without);

}  // namespace kw
