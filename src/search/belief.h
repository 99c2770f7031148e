// What a run believes of its strategies when it begins: the ledger's word where there is one, the strategies' own otherwise.
#pragma once

#include <vector>

#include "search/genes.h"
#include "search/notebook.h"
#include "search/policy.h"

namespace kw {

// Of each strategy in the catalogue.
std::vector<Estimate> first_beliefs(const Catalogue& catalogue, const SearchContext& context);

}  // namespace kw
