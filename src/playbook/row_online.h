// Pairs of reductions of a row in one pass over it.
#pragma once

#include "playbook/reach.h"
#include "playbook/stage.h"

namespace kw {

struct SoftmaxPair {
  ValueId maximum = -1;
  ValueId sum = -1;
  std::vector<DimUse> uses;  // of both, by the root's dimensions
};

// sum(exp(x - max(x))) over the same dimensions, where a stage has it; -1 where not.
SoftmaxPair softmax_pair(const Graph& graph, const Plan& plan, const Stage& stage);

// Where a stage takes the maximum of a row and the sum of exponentials of what lies below it: both in one pass, provided for what
// follows in the innermost scope, which is the row's. False: there is no such pair, or it has no vector form, and nothing was
// written.
bool write_online_softmax(StageWriter& writer, const Stage& stage, const Index& row);

// The same for the sum of a row and that of squared distances from its mean, where the row is too long for the second cache.
bool write_online_moments(StageWriter& writer, const Stage& stage, const Index& row);

}  // namespace kw
