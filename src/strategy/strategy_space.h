// Where sets of strategies are made: the pool, what of it may be used, what the ledger believes, and the rules that every set
// keeps: nothing in conflict, nothing without what it needs.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "strategy/ledger.h"
#include "strategy/pool.h"

namespace kw {

using StrategySet = std::set<std::string>;

struct StrategySpace {
  const StrategyPool& pool;
  const Ledger& ledger;
  std::vector<std::string> usable;  // StrategyPool::applicable()
  std::string zone;
  std::string workload_class;

  [[nodiscard]] bool can_use(const std::string& id) const;
  [[nodiscard]] Belief belief(const std::string& id) const;  // all 0 for a strategy that is not in the pool
};

// Which of two strategies in conflict stays: the ledger decides where one of them was measured and the gains differ, then
// the zone, then the prediction, then the id.
const std::string& preferred(const StrategySpace& space, const std::string& a, const std::string& b);

// The set without conflicts and with its needs closed: what is missing is added where it can be used and is in conflict with
// nothing, otherwise what needs it goes. What cannot be used goes too, and so does what is in `banned`.
StrategySet sound(const StrategySpace& space, StrategySet set, StrategySet banned = {});

}  // namespace kw
