// What a root reads, and how the positions of what it reads depend on the root's own: without text, for planning.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "playbook/value.h"

namespace kw {

// How one dimension of a reached value is read.
struct DimUse {
  std::uint64_t dims = 0;  // bits of the root's dimensions that it depends on; kReducedBit: also on a loop of a reduction
  int same = -1;           // the root's dimension of which it is the very position; -1: it is not
};
inline constexpr std::uint64_t kReducedBit = std::uint64_t{1} << 63;

struct Reached {
  ValueId value = -1;
  std::vector<DimUse> uses;
  ValueId within = -1;  // the outermost reduction inside of which it is read; -1: none

  // All dimensions together.
  [[nodiscard]] std::uint64_t dims() const {
    std::uint64_t all = 0;
    for (const auto& use : uses) all |= use.dims;
    return all;
  }
};

// Visits everything that the root needs, itself first, down to what `is_stored` or is an argument (these are visited, what is
// behind them is not). A value that is read in several ways is visited as often.
void visit_reached(const Graph& graph, ValueId root, const std::function<bool(ValueId)>& is_stored,
                   const std::function<void(const Reached&)>& visit);

// The value whose memory an output can share: behind reshapes and views that only add or drop dimensions of one.
ValueId behind_reshapes(const Graph& graph, ValueId value);
// Whether no element is above 0 (NaN aside): distances below the maximum of their own row, and negated sizes.
bool is_never_positive(const Graph& graph, ValueId value);
// Whether an expm1 is read for the negative side of its argument alone, as in an ELU: `users` are those of the graph.
bool counts_where_negative(const Graph& graph, const std::vector<std::vector<ValueId>>& users, ValueId value);
// Whether the value needs a computation or a movement of its own: no leaf and no view.
bool is_computed(const Value& value);
bool is_contraction(const Value& value);  // product, convolution
bool is_anchor(const Value& value);       // these, window, scan, arg_reduce

}  // namespace kw
