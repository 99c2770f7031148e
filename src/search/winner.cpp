#include "search/winner.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace kw {
namespace {

// A speedup that many tries were compared by is too good on average, the more so the wider its interval.
double cautious(const Individual& individual) { return 0.5 * (individual.speedup + individual.interval.low); }

constexpr std::size_t kMostConfirmations = 3;

// The fastest; then the one that does the least, which is the likeliest to be right where fast ones are not.
std::vector<const Individual*> to_confirm(const std::vector<Individual>& individuals) {
  std::vector<const Individual*> order = ranked(individuals);
  if (order.size() <= kMostConfirmations) return order;
  const auto rest = order.begin() + kMostConfirmations;
  const Individual* plainest = *std::min_element(rest, order.end(), [](const Individual* a, const Individual* b) {
    return a->kernel.claims.size() < b->kernel.claims.size();
  });
  order.resize(kMostConfirmations);
  order.push_back(plainest);
  return order;
}

}  // namespace

std::vector<const Individual*> ranked(const std::vector<Individual>& individuals) {
  std::vector<const Individual*> order;
  for (const Individual& individual : individuals)
    if (individual.passed() && individual.speedup > 0) order.push_back(&individual);
  std::stable_sort(order.begin(), order.end(),
                   [](const Individual* a, const Individual* b) { return cautious(*a) > cautious(*b); });
  std::set<std::string> seen;
  std::erase_if(order, [&](const Individual* each) { return !seen.insert(each->assembly_hash).second; });
  return order;
}

Result<Winner> confirm_winner(Evaluator& evaluator, const ProblemSource& problem, const std::vector<Individual>& individuals,
                              const Trials& trials, const std::string& command, double seconds_per_baseline) {
  Winner winner;
  for (const Individual* each : to_confirm(individuals)) {
    KW_TRY(Candidate candidate, trials.candidate_of(*each));
    KW_TRY(Evaluated evaluated, evaluator.confirm(problem, candidate, command, seconds_per_baseline));
    const bool has_result = evaluated.evaluation.timing || evaluated.evaluation.estimate;
    if (evaluated.evaluation.verdict.verdict == Verdict::passed && has_result) {
      winner.index = each->index;
      winner.confirmed = std::move(evaluated.evaluation);
      return winner;
    }
    winner.notes.push_back(fmt::format("kernel {} did not hold with fresh inputs ({}: {}); the next best was taken", each->index,
                                       name_of(evaluated.evaluation.verdict.verdict),
                                       evaluated.evaluation.verdict.diagnosis.summary));
  }
  return winner;
}

}  // namespace kw
