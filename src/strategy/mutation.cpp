#include "strategy/mutation.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace kw {
namespace {

constexpr double kEagerness = 3;  // how strongly beliefs bend the odds: a factor of 1.4 in gain makes odds of about 3 to 1

const std::string* pick_to_add(const StrategySpace& space, const StrategySet& set, const StrategySet& banned, Random& random) {
  std::vector<const std::string*> candidates;
  std::vector<double> weights;
  for (const std::string& id : space.usable) {
    if (set.contains(id) || banned.contains(id) || !space.can_use(id)) continue;
    candidates.push_back(&id);
    weights.push_back(std::exp(kEagerness * space.belief(id).score));
  }
  return candidates.empty() ? nullptr : candidates[random.weighted(weights)];
}

const std::string* pick_to_drop(const StrategySpace& space, const StrategySet& set, Random& random) {
  std::vector<const std::string*> candidates;
  std::vector<double> weights;
  for (const std::string& id : set) {
    candidates.push_back(&id);
    weights.push_back(std::exp(-kEagerness * space.belief(id).score));
  }
  return candidates.empty() ? nullptr : candidates[random.weighted(weights)];
}

// With `added` in it whatever the ledger says of its rivals: to find out is what the change is for.
StrategySet with_strategy(const StrategySpace& space, StrategySet set, const std::string& added, StrategySet banned) {
  std::vector<std::string> bringing{added};  // and all that it needs, all the way down
  for (std::size_t i = 0; i < bringing.size(); ++i)
    if (const Strategy* strategy = space.pool.find(bringing[i]))
      for (const std::string& need : strategy->needs)
        if (std::find(bringing.begin(), bringing.end(), need) == bringing.end()) bringing.push_back(need);
  for (const std::string& id : bringing)
    for (const std::string& member : StrategySet(set))
      if (space.pool.conflict(member, id)) {
        set.erase(member);
        banned.insert(member);
      }
  set.insert(bringing.begin(), bringing.end());
  return sound(space, std::move(set), std::move(banned));
}

// What needs a strategy that goes does not bring it back.
StrategySet without_strategy(const StrategySpace& space, StrategySet set, const std::string& dropped) {
  set.erase(dropped);
  return sound(space, std::move(set), {dropped});
}

}  // namespace

double chance_of(const StrategySpace& space, const std::string& id) {
  return 1 / (1 + std::exp(-kEagerness * space.belief(id).score));
}

StrategySet drawn_set(const StrategySpace& space, Random& random) {
  StrategySet drawn;
  for (const std::string& id : space.usable)
    if (random.chance(chance_of(space, id))) drawn.insert(id);
  return sound(space, std::move(drawn));
}

StrategySet changed(const StrategySpace& space, const StrategySet& set, Change change, Random& random) {
  if (change == Change::add) {
    const std::string* added = pick_to_add(space, set, {}, random);
    return added ? with_strategy(space, set, *added, {}) : set;
  }
  const std::string* picked = pick_to_drop(space, set, random);
  if (!picked) return set;
  const std::string dropped = *picked;
  StrategySet rest = without_strategy(space, set, dropped);
  if (change == Change::drop) return rest;
  const std::string* added = pick_to_add(space, rest, {dropped}, random);
  return added ? with_strategy(space, std::move(rest), *added, {dropped}) : set;
}

StrategySet mutated(const StrategySpace& space, const StrategySet& set, Random& random) {
  static constexpr std::array<Change, 3> kKinds{Change::add, Change::drop, Change::swap};
  const std::size_t first = random.below(kKinds.size());
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    StrategySet made = changed(space, set, kKinds[(first + i) % kKinds.size()], random);
    if (made != set) return made;
  }
  return set;
}

}  // namespace kw
