// Outputs that are positions (of topk, sort, argmax and the like), where values tie: any position that selects the same value is
// right, but for orderings no position may be given twice. Which outputs these are, and the values, the oracle finds.
#pragma once

#include <cstdint>
#include <optional>

#include "problem/tensor_sets.h"

namespace kw {

struct TiedPositions {
  std::span<const double> values;       // what is selected from: `length` of them for each line with ties
  std::span<const double> room;         // by which values of a line may differ and still tie
  std::span<const std::int64_t> lines;  // of each element of the output; -1: nothing ties there
  std::int64_t length = 0;
  bool distinct = false;  // within a line

  // Whether position `k` selects the same value as `r` for this element.
  [[nodiscard]] bool alike(std::int64_t element, std::int64_t k, std::int64_t r) const;
  // The elements whose position another element of the same line had before, in lines with ties; in order.
  [[nodiscard]] std::vector<std::int64_t> repeated(const void* kernel, DType dtype) const;
};

// Of one output of a set; nothing where it is no position or nothing ties.
Result<std::optional<TiedPositions>> tied_positions(const TensorSet& set, const TensorSpec& output);

}  // namespace kw
