// What a problem is like, in numbers that conditions of strategies are written over; the README lists them.
#pragma once

#include <vector>

#include "playbook/stage.h"
#include "record/problem.h"
#include "record/strategy.h"

namespace kw {

Features features_of(const ProblemDescription& problem, const Graph& graph, const std::vector<ValueId>& outputs,
                     const MachineFacts& machine);

}  // namespace kw
