// What the individuals of a run say of strategies: each is compared with its nearest relative.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/run.h"
#include "strategy/pool.h"

namespace kw {

struct RunFacts {
  std::string run;
  std::string zone;
  std::string workload_class;
};

// Entries of the individuals from index `first` on; `individuals` are all of the run, sorted by index. An individual's relative is
// the earlier passing one whose strategies differ least, in one to three (in more only where nothing is nearer in the whole run); a
// parent comes first among equals, then one with the same knobs. The measured log ratio is shared evenly among the strategies that
// differ: for one that was given up it counts inverted. A kernel that did not pass blames the strategies that it has beyond its
// relative; a mistrusted timing blames nobody.
std::vector<LedgerEntry> ledger_entries(const StrategyPool& pool, const std::vector<Individual>& individuals, std::int64_t first,
                                        const RunFacts& facts);

}  // namespace kw
