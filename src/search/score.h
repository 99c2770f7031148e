// How fast a kernel is, as policies compare it, and when one kernel counts as faster than another.
#pragma once

#include "record/run.h"

namespace kw {

// A logarithm of a speedup over eager, and how well it is known.
struct Score {
  bool passed = false;
  double centre = 0;
  double deviation = 0;
};

Score score_of(const Individual& individual);

// Whether a challenger takes the leader's place. Yes if it passed and the leader did not. Otherwise its centre must be ahead by
// more than the noise: one and a half standard deviations of their difference and at least half a per cent, so that a lucky glance
// seldom wins and equal kernels never change places. Intervals (of 95%) that do not touch are further apart than that.
bool beats(const Score& challenger, const Score& leader);

}  // namespace kw
