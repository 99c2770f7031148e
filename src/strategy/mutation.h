// Small changes to a set of strategies, and sets from nothing, both steered by what the ledger believes.
#pragma once

#include "strategy/random.h"
#include "strategy/strategy_space.h"

namespace kw {

enum class Change { add, drop, swap };

// How likely a strategy is taken when each is decided on its own: even odds for one that should change nothing.
double chance_of(const StrategySpace& space, const std::string& id);

// Each usable strategy by its chance.
StrategySet drawn_set(const StrategySpace& space, Random& random);

// One change of this kind. What is added is drawn by its score, and what is in conflict with it gives way; what is dropped is
// drawn from those believed to give least, and what needs it goes too. The set itself comes back where nothing can be changed.
StrategySet changed(const StrategySpace& space, const StrategySet& set, Change change, Random& random);

// A change of a kind drawn by lot; another kind where that one changes nothing.
StrategySet mutated(const StrategySpace& space, const StrategySet& set, Random& random);

}  // namespace kw
