#include "search/random_policy.h"

#include "search/variation.h"
#include "strategy/random.h"

namespace kw {

std::vector<Proposal> RandomPolicy::ask() {
  constexpr int kTries = 300;  // for something new; small problems have few kernels
  std::vector<Proposal> proposals;
  for (int tries = 0; tries < kTries && static_cast<int>(proposals.size()) < bench_.context().batch; ++tries) {
    const Draft* draft = bench_.draft(random_genes(bench_.catalogue(), random_));
    if (draft == nullptr) continue;
    const auto point = draft->space.random([&](int n) { return random_.below(n); });
    if (const auto order = bench_.order(*draft, point.value_or(draft->space.standard()), "random", {}))
      proposals.push_back(order->proposal);
  }
  return proposals;
}

void RandomPolicy::tell(const std::vector<Individual>& /*outcomes*/) {}

}  // namespace kw
