// Algebra on a problem's graph before it is planned: the same numbers within the precision contract, for less work. Each kind of it
// is a strategy. It plans nothing and writes no text.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "playbook/value.h"

namespace kw {

struct Algebra {
  Graph graph;
  std::vector<ValueId> outputs;
  // Values of parameters alone that are made once, in kw_prepare; and what their memory is called.
  std::map<ValueId, std::string> prepared;
  std::set<std::string> done;  // the strategies that changed something
};

// Strategies that this file realises:
//   fold_batch_norm         scales and shifts of each channel behind a product or convolution go into its weights
//   sum_weights_first       a sum over what a product or convolution gives is one with summed weights, or of summed inputs
//   pool_into_convolution   the mean of windows of a convolution is a convolution with longer steps
inline constexpr const char* kAlgebra[] = {"fold_batch_norm", "sum_weights_first", "pool_into_convolution"};

Algebra with_algebra(const Graph& graph, const std::vector<ValueId>& outputs, const std::set<std::string>& strategies);

}  // namespace kw
