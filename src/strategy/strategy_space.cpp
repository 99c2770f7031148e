#include "strategy/strategy_space.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace kw {
namespace {

constexpr double kSameGain = 0.01;  // one percent: within what timing can tell apart

std::optional<std::string> loser_of_a_conflict(const StrategySpace& space, const StrategySet& set) {
  for (auto a = set.begin(); a != set.end(); ++a)
    for (auto b = std::next(a); b != set.end(); ++b)
      if (space.pool.conflict(*a, *b)) return preferred(space, *a, *b) == *a ? *b : *a;
  return std::nullopt;
}

struct MissingNeed {
  std::string who, what;
};

std::optional<MissingNeed> missing_need(const StrategySpace& space, const StrategySet& set) {
  for (const std::string& id : set)
    for (const std::string& need : space.pool.find(id)->needs)
      if (!set.contains(need)) return MissingNeed{id, need};
  return std::nullopt;
}

}  // namespace

bool StrategySpace::can_use(const std::string& id) const {
  return pool.find(id) && std::find(usable.begin(), usable.end(), id) != usable.end();
}

Belief StrategySpace::belief(const std::string& id) const {
  const Strategy* strategy = pool.find(id);
  return strategy ? ledger.belief(*strategy, zone, workload_class) : Belief{};
}

const std::string& preferred(const StrategySpace& space, const std::string& a, const std::string& b) {
  const Belief first = space.belief(a), second = space.belief(b);
  const bool measured = first.count + second.count + first.failures + second.failures > 0;
  const double one = first.gain * (1 - first.fail_rate), other = second.gain * (1 - second.fail_rate);
  if (measured && std::abs(one - other) > kSameGain) return one > other ? a : b;
  const Strategy* left = space.pool.find(a);
  const Strategy* right = space.pool.find(b);
  if (!left || !right) return left ? a : b;
  if (pays_in(*left, space.zone) != pays_in(*right, space.zone)) return pays_in(*left, space.zone) ? a : b;
  if (left->predicts != right->predicts) return left->predicts > right->predicts ? a : b;
  return a < b ? a : b;
}

StrategySet sound(const StrategySpace& space, StrategySet set, StrategySet banned) {
  std::erase_if(set, [&](const std::string& id) { return banned.contains(id) || !space.can_use(id); });
  const auto drop = [&](const std::string& id) {
    set.erase(id);
    banned.insert(id);  // so that nothing that needs it brings it back, and this ends
  };
  while (true) {
    if (const auto loser = loser_of_a_conflict(space, set)) {
      drop(*loser);
    } else if (const auto missing = missing_need(space, set)) {
      const auto& [who, what] = *missing;
      bool can_come = space.can_use(what) && !banned.contains(what);
      for (const std::string& id : set) can_come = can_come && !space.pool.conflict(id, what);
      if (can_come)
        set.insert(what);
      else
        drop(who);
    } else {
      return set;
    }
  }
}

}  // namespace kw
