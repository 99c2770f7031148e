// New sets of strategies out of two parents'. The same parents, beliefs and random numbers give the same child.
#pragma once

#include "strategy/random.h"
#include "strategy/strategy_space.h"

namespace kw {

enum class Inheritance {
  all,    // the union of both
  some,   // what both have, and of the rest each with a probability that grows with the belief in it
  either  // one of these, by lot
};

StrategySet cross(const StrategySpace& space, const StrategySet& one, const StrategySet& other, Random& random,
                  Inheritance inheritance = Inheritance::either);

}  // namespace kw
