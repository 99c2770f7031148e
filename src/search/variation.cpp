#include "search/variation.h"

#include <algorithm>

#include "strategy/crossover.h"
#include "strategy/mutation.h"
#include "strategy/random.h"

namespace kw {

Genes random_genes(const Catalogue& catalogue, Random& random) {
  std::vector<int> order;
  for (int gene = 0; gene < catalogue.size(); ++gene)
    if (random.chance(0.5)) order.push_back(gene);
  for (std::size_t i = order.size(); i > 1; --i) {
    const int other = random.below(static_cast<int>(i));
    std::swap(order[i - 1], order[static_cast<std::size_t>(other)]);
  }
  return catalogue.together(order);
}

Variation::Variation(const Workbench& bench)
    : catalogue_(bench.catalogue()),
      space_{*bench.context().pool,
             bench.context().ledger == nullptr ? nothing_known_ : *bench.context().ledger,
             {},
             bench.context().zone,
             bench.context().workload_class} {
  for (int gene = 0; gene < catalogue_.size(); ++gene) space_.usable.push_back(catalogue_[gene].id);
}

StrategySet Variation::set_of(const Genes& genes) const {
  const std::vector<std::string> ids = catalogue_.ids(genes);
  return {ids.begin(), ids.end()};
}

Genes Variation::genes_of(const StrategySet& set) const { return catalogue_.genes({set.begin(), set.end()}); }

Genes Variation::crossed(const Genes& one, const Genes& other, Random& random) const {
  return genes_of(cross(space_, set_of(one), set_of(other), random));
}

Genes Variation::mutated(const Genes& genes, Random& random) const { return genes_of(kw::mutated(space_, set_of(genes), random)); }

Genes Variation::drawn(Random& random) const { return genes_of(drawn_set(space_, random)); }

}  // namespace kw
