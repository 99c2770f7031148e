// What a problem is like, in numbers that conditions of strategies are written over; the README lists them.
#pragma once

#include <vector>

#include "playbook/gpu_playbook.h"
#include "playbook/stage.h"
#include "record/problem.h"
#include "record/strategy.h"

namespace kw {

Features features_of(const ProblemDescription& problem, const Graph& graph, const std::vector<ValueId>& outputs,
                     const MachineFacts& machine);

// The same for a GPU: its figures in place of a CPU's.
Features gpu_features_of(const ProblemDescription& problem, const Graph& graph, const std::vector<ValueId>& outputs,
                         const GpuFacts& gpu);

}  // namespace kw
