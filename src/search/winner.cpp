#include "search/winner.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace kw {
namespace {

// A speedup that many tries were compared by is too good on average, the more so the wider its interval.
double cautious(const Individual& individual) { return 0.5 * (individual.speedup + individual.interval.low); }

bool claims_any(const Kernel& kernel, const std::set<std::string>& strategies) {
  return std::ranges::any_of(kernel.claims, [&](const std::string& id) { return strategies.contains(id); });
}

// That the work has to end is no failure: it is noted.
Status unless_ended(Status status, Winner& winner) {
  if (status || status.error().kind != ErrorKind::stopped) return status;
  winner.ended = std::move(status.error());
  return {};
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

std::int64_t next_to_confirm(const std::vector<Individual>& individuals, const std::set<std::int64_t>& tried,
                             const std::set<std::string>& suspects) {
  std::vector<const Individual*> order = ranked(individuals);
  std::erase_if(order, [&](const Individual* each) { return tried.contains(each->index); });
  if (order.empty()) return -1;
  if (tried.size() + 1 == kMostConfirmations)
    return (*std::ranges::min_element(order, {}, [](const Individual* each) { return each->kernel.claims.size(); }))->index;
  const auto plain = std::ranges::find_if(order, [&](const Individual* each) { return !claims_any(each->kernel, suspects); });
  return (plain == order.end() ? order.front() : *plain)->index;
}

Proposal proposal_without(const Individual& individual, const std::vector<std::string>& strategies) {
  Proposal proposal = individual.proposal;
  const auto leave_out = [&](std::vector<std::string>& ids, KnobValues& knobs) {
    if (std::erase_if(ids, [&](const std::string& id) { return std::ranges::find(strategies, id) != strategies.end(); }) > 0)
      knobs.clear();
  };
  leave_out(proposal.strategies, proposal.knobs);
  for (PartChoice& part : proposal.parts) leave_out(part.strategies, part.knobs);
  proposal.origin = "mutation";
  proposal.parents = {individual.index};
  return proposal;
}

Result<Winner> confirm_winner(Evaluator& evaluator, const ProblemSource& problem, const std::vector<Individual>& individuals,
                              const Trials& trials, const std::string& command, double seconds_per_baseline,
                              const OnConfirming& on_confirming, const TryWithout& try_without) {
  Winner winner;
  std::set<std::int64_t> tried;
  std::set<std::string> suspects;
  while (tried.size() < kMostConfirmations) {
    std::int64_t index = next_to_confirm(individuals, tried, suspects);
    if (index < 0 && !tried.empty()) {  // the plain kernel, where nothing else is left
      const std::int64_t last = *tried.rbegin();
      KW_CHECK(unless_ended(try_without(last, individuals[static_cast<std::size_t>(last)].proposal.strategies), winner));
      if (winner.ended) break;
      index = next_to_confirm(individuals, tried, suspects);
    }
    if (index < 0) break;
    tried.insert(index);
    const Individual& each = individuals[static_cast<std::size_t>(index)];
    KW_TRY(Candidate candidate, trials.candidate_of(each));
    on_confirming(index);
    auto evaluated = evaluator.confirm(problem, candidate, command, seconds_per_baseline);
    if (!evaluated) {
      KW_CHECK(unless_ended(evaluated.error(), winner));
      winner.index = index;
      return winner;
    }
    const VerdictRecord& judged = evaluated->evaluation.verdict;
    const bool has_result = evaluated->evaluation.timing || evaluated->evaluation.estimate;
    if (judged.verdict == Verdict::passed && has_result) {
      winner.index = index;
      winner.confirmed = std::move(evaluated->evaluation);
      return winner;
    }
    winner.notes.push_back(fmt::format("kernel {} did not hold with fresh inputs ({}: {}); the next best was taken", index,
                                       name_of(judged.verdict), judged.diagnosis.summary));
    const auto rounding = trials.rounding_claims(each.kernel);
    if ((judged.verdict != Verdict::wrong && judged.verdict != Verdict::imprecise) || rounding.empty()) continue;
    suspects.insert(rounding.begin(), rounding.end());
    KW_CHECK(unless_ended(try_without(index, rounding), winner));
    if (winner.ended) winner.index = next_to_confirm(individuals, tried, suspects);
    if (winner.ended) break;
  }
  return winner;
}

}  // namespace kw
