// Numbers of 16 bits in a graph: computed as float32, and rounded only where they are stored or where forward() rounds them itself.
// That is what PyTorch's own fused kernels do, and what the float64 reference asks for: every other rounding is an error more.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "playbook/value.h"

namespace kw {

struct WidenedGraph {
  Graph graph;
  std::vector<ValueId> outputs;
};

// The same graph without arithmetic on 16 bits. Arguments, what is only moved, and results of casts stay as they are; a cast to
// float32 stands behind them.
WidenedGraph widened(const Graph& graph, const std::vector<ValueId>& outputs);

// What tensor cores may multiply: 16 bits where PyTorch has both factors so, or where they lie in memory so; else the product's
// type.
DType factor_type(const Graph& graph, ValueId product);

// What products read of 16 bits that is computed, views apart: it may lie so in memory where tensor cores are to take it.
std::map<ValueId, DType> factors_of_16_bits(const Graph& graph, const std::set<ValueId>& needed);

// Whether a value is a float32 rounded to 16 bits.
bool rounds_to_16_bits(const Graph& graph, ValueId id);

// The factor of a product as tensor cores may take it: of a value that was widened, the value of 16 bits; otherwise itself.
ValueId behind_widening(const Graph& graph, ValueId factor);

}  // namespace kw
