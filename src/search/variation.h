// New sets of strategies: at random, and out of two parents.
#pragma once

#include "search/workbench.h"
#include "strategy/random.h"

namespace kw {

// Each strategy with one chance in two, in an order of its own; what conflicts with an earlier one or lacks what it needs is left
// out.
Genes random_genes(const Catalogue& catalogue, Random& random);

// What two parents' strategies give together; conflicts are decided by the run's beliefs, then by the ledger and the zone.
Genes crossed(const Workbench& bench, const Genes& one, const Genes& other, Random& random);

}  // namespace kw
