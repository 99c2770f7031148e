// The numbers behind a speedup: medians, and an interval that holds for noisy, shared machines.
#pragma once

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
  double value = 0;
  Interval interval;
};

// What a block says of its side: the lowest decile of its calls. What disturbs a call only ever adds to it, so the quicker
// calls tell of the kernel and the slower ones of the machine.
double block_seconds(const std::vector<double>& calls);

// The ratio of block_seconds within each pair; over the pairs, the centre (Hodges-Lehmann) and its 95% interval by signed ranks.
// The pairs stay together, so that a machine that turns slow for a while slows both sides of a ratio alike; and for a
// kernel against itself a pair is as likely to fall on either side of 1, which is all that the interval relies on.
Ratio speedup_of(const std::vector<BlockPair>& pairs);

}  // namespace kw
