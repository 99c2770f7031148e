#include "strategy/crossover.h"

#include "strategy/mutation.h"

namespace kw {

StrategySet cross(const StrategySpace& space, const StrategySet& one, const StrategySet& other, Random& random,
                  Inheritance inheritance) {
  StrategySet all = one;
  all.insert(other.begin(), other.end());
  if (inheritance == Inheritance::either) inheritance = random.chance(0.5) ? Inheritance::all : Inheritance::some;
  if (inheritance == Inheritance::all) return sound(space, std::move(all));
  StrategySet child;
  for (const std::string& id : all) {
    const bool drawn = random.chance(chance_of(space, id));  // always drawn: what is common does not shift later numbers
    if (drawn || (one.contains(id) && other.contains(id))) child.insert(id);
  }
  return sound(space, std::move(child));
}

}  // namespace kw
