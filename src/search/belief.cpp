#include "search/belief.h"

#include <algorithm>
#include <cmath>

#include "strategy/ledger.h"

namespace kw {

std::vector<Estimate> first_beliefs(const Catalogue& catalogue, const SearchContext& context) {
  constexpr double kUsualFailRate =
      0.15;  // that every coder has now and then; only what fails more often is held against a strategy
  constexpr double kLeastSpread = 0.08, kMostSpread = 0.4;  // another problem may always be a little different
  const Ledger nothing_known;
  const Ledger& ledger = context.ledger == nullptr ? nothing_known : *context.ledger;
  std::vector<Estimate> beliefs;
  for (int gene = 0; gene < catalogue.size(); ++gene) {
    const Belief belief = ledger.belief(catalogue[gene], context.zone, context.workload_class);
    const double failing = std::clamp(belief.fail_rate - kUsualFailRate, 0.0, 0.9);
    beliefs.push_back({belief.gain + std::log(1 - failing), std::clamp(belief.spread, kLeastSpread, kMostSpread)});
  }
  return beliefs;
}

}  // namespace kw
