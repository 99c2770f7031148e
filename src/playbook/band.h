// Bands of matrices: which elements count by construction, found in values that are masked by their positions.
#pragma once

#include <cstdint>
#include <optional>

#include "playbook/value.h"

namespace kw {

// The elements of a matrix with low <= column - row <= high.
struct Band {
  std::int64_t low = 0;
  std::int64_t high = 0;
};
inline constexpr std::int64_t kFar = std::int64_t{1} << 40;  // an end that no matrix reaches

// What lies in both; nothing given is everything.
std::optional<Band> intersection(const std::optional<Band>& a, const std::optional<Band>& b);
// Outside of it a value's last two dimensions are zero.
std::optional<Band> band_of(const Graph& graph, ValueId value);
// Where a comparison of positions holds, in its last two dimensions.
std::optional<Band> band_of_mask(const Graph& graph, ValueId mask);

}  // namespace kw
