// New sets of strategies: from nothing, out of one parent and out of two, as src/strategy makes them.
#pragma once

#include "search/workbench.h"
#include "strategy/ledger.h"
#include "strategy/random.h"
#include "strategy/strategy_space.h"

namespace kw {

// Each strategy with one chance in two, in an order of its own; what conflicts with an earlier one or lacks what it needs is left
// out.
Genes random_genes(const Catalogue& catalogue, Random& random);

class Variation {
 public:
  explicit Variation(const Workbench& bench);

  [[nodiscard]] Genes crossed(const Genes& one, const Genes& other, Random& random) const;
  [[nodiscard]] Genes mutated(const Genes& genes, Random& random) const;
  // By the ledger's upper confidence in each.
  [[nodiscard]] Genes drawn(Random& random) const;

 private:
  [[nodiscard]] StrategySet set_of(const Genes& genes) const;
  [[nodiscard]] Genes genes_of(const StrategySet& set) const;

  const Catalogue& catalogue_;
  Ledger nothing_known_;
  StrategySpace space_;
};

}  // namespace kw
