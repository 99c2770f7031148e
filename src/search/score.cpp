#include "search/score.h"

#include <algorithm>
#include <cmath>

namespace kw {

namespace {
constexpr double kDeviationsOfInterval = 2 * 1.96;
constexpr double kUnknownDeviation = 0.03;  // of a speedup that came without an interval
constexpr double kLeastLead = 0.005;
constexpr double kDeviationsAhead = 1.5;
}  // namespace

Score score_of(const Individual& individual) {
  if (!individual.passed() || individual.speedup <= 0) return {};
  Score score{true, std::log(individual.speedup), kUnknownDeviation};
  const Interval& interval = individual.interval;
  if (interval.low > 0 && interval.high > interval.low)
    score.deviation = std::log(interval.high / interval.low) / kDeviationsOfInterval;
  return score;
}

bool beats(const Score& challenger, const Score& leader) {
  if (!challenger.passed || !leader.passed) return challenger.passed && !leader.passed;
  const double noise = std::hypot(challenger.deviation, leader.deviation);
  return challenger.centre - leader.centre > std::max(kLeastLead, kDeviationsAhead * noise);
}

}  // namespace kw
