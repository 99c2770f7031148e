// The numbers behind a speedup: medians, and an interval that holds for noisy, shared machines.
#pragma once

#include <cstdint>
#include <vector>

#include "record/timing.h"

namespace kw {

double median(std::vector<double> values);  // 0 for none

// One block of the baseline beside one block of the candidate: they ran one after the other, under the same conditions.
struct BlockPair {
  std::vector<double> baseline;  // seconds of each call
  std::vector<double> candidate;
};

struct Ratio {
  double value = 0;  // the median over pairs of (baseline's median / candidate's median)
  Interval interval;
};

// 95%: bootstrap over pairs, never narrower than the distribution-free interval of a median. The pairs stay together, so
// that a machine that turns slow for a while slows both sides of a ratio alike.
Ratio speedup_of(const std::vector<BlockPair>& pairs, std::uint64_t seed = 1);

}  // namespace kw
