// How much a stage would compute more than once if all that it needs and is not in memory were pulled into it. Shifts, seams and
// edges make the same value another one for each way in which it is read.
#pragma once

#include <functional>
#include <map>
#include <set>

#include "playbook/value.h"

namespace kw {

struct RepeatedWork {
  double all = 0;                   // operations for one element of the root, a loop's body once; at most about kMostExpanded
  double repeated = 0;              // of these: for values that have been computed before, for another position
  std::map<ValueId, double> again;  // how often each such value is computed beyond the first time
};

// As many operations are looked at; beyond them a stage is too large in any case.
inline constexpr double kMostExpanded = 4096;

// Counts what Emitter::emit would write for the root: equal positions of a value are computed once.
RepeatedWork repeated_work(const Graph& graph, ValueId root, const std::function<bool(ValueId)>& is_stored);

// How a plan keeps its values.
struct Storing {
  std::function<bool(ValueId)> is_stored;
  std::function<bool(ValueId)> may_be_stored;
  std::function<void(ValueId)> store;
};

// A value that is pulled into what reads it needs no memory, and is computed again for every position at which it is read: where
// that is more work than writing and reading it, it is stored. `needed`: what the outputs need.
void store_what_would_be_repeated(const Graph& graph, const std::set<ValueId>& needed, const Storing& storing);

}  // namespace kw
