// Draws that the policies need beside those of Random; the same everywhere, as those are.
#pragma once

#include "strategy/random.h"

namespace kw {

inline int draw_below(Random& random, int limit) { return static_cast<int>(random.below(static_cast<std::uint64_t>(limit))); }

// Close enough to a normal distribution, and exact arithmetic on every platform.
inline double draw_normal(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum;
}

}  // namespace kw
