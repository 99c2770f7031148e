#include "measure/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace kw {
namespace {

TEST(Median, OfFewAndOfNone) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({4, 1}), 2.5);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({1, 1000, 2, 3}), 2.5);
}

// A noisy machine: calls vary, now and then one is interrupted, and whole pairs of blocks fall into slow phases.
struct NoisyMachine {
  std::mt19937_64 random;
  double call(double seconds) {
    double time = seconds * std::exp(std::normal_distribution<double>(0, 0.05)(random));
    if (std::bernoulli_distribution(0.05)(random)) time *= std::uniform_real_distribution<double>(1.5, 6)(random);
    return time;
  }
  std::vector<double> block(double seconds, int calls) {
    // Blocks differ from each other by more than calls within one do.
    const double level = seconds * std::exp(std::normal_distribution<double>(0, 0.03)(random));
    std::vector<double> times;
    for (int i = 0; i < calls; ++i) times.push_back(call(level));
    return times;
  }
  std::vector<BlockPair> measurement(double speedup, int pairs) {
    std::vector<BlockPair> all;
    for (int i = 0; i < pairs; ++i) {
      const double phase = std::bernoulli_distribution(0.3)(random) ? 2.5 : 1;
      all.push_back({block(1e-3 * phase, 9), block(1e-3 * phase / speedup, 9)});
    }
    return all;
  }
};

// How many of the measurements' intervals contain `truth`.
int covered(double truth, int pairs, int measurements, std::uint64_t seed) {
  NoisyMachine machine{std::mt19937_64(seed)};
  int inside = 0;
  for (int i = 0; i < measurements; ++i) {
    const Ratio ratio = speedup_of(machine.measurement(truth, pairs));
    inside += ratio.interval.low <= truth && truth <= ratio.interval.high ? 1 : 0;
  }
  return inside;
}

TEST(Speedup, EqualThingsAreCalledEqual) {
  EXPECT_GE(covered(1, 12, 400, 1), 372);
  EXPECT_GE(covered(1, 24, 400, 2), 372);
  EXPECT_GE(covered(1, 7, 400, 3), 372);
}

TEST(Speedup, PlantedRatiosAreInTheInterval) {
  EXPECT_GE(covered(1.8, 12, 200, 4), 186);
  EXPECT_GE(covered(0.4, 12, 200, 5), 186);
}

TEST(Speedup, TenPercentAreToldApartInBothDirections) {
  NoisyMachine machine{std::mt19937_64(6)};
  int slower = 0, faster = 0;
  for (int i = 0; i < 100; ++i) {
    slower += speedup_of(machine.measurement(1 / 1.1, 32)).interval.high < 1 ? 1 : 0;
    faster += speedup_of(machine.measurement(1.1, 32)).interval.low > 1 ? 1 : 0;
  }
  EXPECT_GE(slower, 90);
  EXPECT_GE(faster, 90);
}

TEST(Speedup, TheValueIsNearThePlantedRatio) {
  NoisyMachine machine{std::mt19937_64(7)};
  EXPECT_NEAR(speedup_of(machine.measurement(2, 200)).value, 2, 0.04);
}

TEST(Speedup, ASlowPhaseOfBothSidesChangesNothing) {
  std::vector<BlockPair> pairs;
  for (int i = 0; i < 12; ++i) {
    const double phase = i >= 4 && i < 9 ? 10 : 1;  // almost half of the time the machine is ten times as slow
    pairs.push_back({{3 * phase, 3.03 * phase, 2.97 * phase}, {2 * phase, 2.02 * phase, 1.98 * phase}});
  }
  const Ratio ratio = speedup_of(pairs);
  EXPECT_NEAR(ratio.value, 1.5, 1e-9);
  EXPECT_NEAR(ratio.interval.low, 1.5, 0.01);
  EXPECT_NEAR(ratio.interval.high, 1.5, 0.01);
}

TEST(Speedup, SingleOutliersDoNotMoveIt) {
  std::vector<BlockPair> pairs(12, {{2, 2, 2, 2, 50}, {1, 1, 1, 90, 1}});
  EXPECT_NEAR(speedup_of(pairs).value, 2, 1e-9);
  pairs[3] = {{2, 2, 2}, {80, 80, 80}};
  EXPECT_NEAR(speedup_of(pairs).value, 2, 1e-9);
}

TEST(Speedup, FewPairsGiveAllThatWasSeenAsTheInterval) {
  const Ratio ratio = speedup_of({{{2}, {1}}, {{3}, {1}}, {{4}, {1}}});
  EXPECT_GT(ratio.value, 2);
  EXPECT_LT(ratio.value, 4);
  EXPECT_NEAR(ratio.interval.low, 2, 0.02);
  EXPECT_NEAR(ratio.interval.high, 4, 0.03);
  const Ratio one = speedup_of({{{2, 2, 4}, {1}}});
  EXPECT_NEAR(one.value, 2, 1e-9);
  EXPECT_NEAR(one.interval.low, 2, 0.02);
}

TEST(Speedup, LiesWithinItsInterval) {
  NoisyMachine machine{std::mt19937_64(8)};
  const Ratio ratio = speedup_of(machine.measurement(1.3, 15));
  EXPECT_LE(ratio.interval.low, ratio.value);
  EXPECT_GE(ratio.interval.high, ratio.value);
}

TEST(Speedup, ABlockStandsForItsQuickerCalls) {
  EXPECT_EQ(block_seconds({}), 0);
  EXPECT_DOUBLE_EQ(block_seconds({5}), 5);
  EXPECT_NEAR(block_seconds({9, 1, 2, 3, 8}), 1.4, 1e-12);
  EXPECT_NEAR(block_seconds({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), 2, 1e-12);
}

TEST(Speedup, ManyPairsNarrowTheInterval) {
  NoisyMachine machine{std::mt19937_64(9)};
  const auto width = [](const Ratio& ratio) { return ratio.interval.high - ratio.interval.low; };
  EXPECT_LT(width(speedup_of(machine.measurement(1, 200))), width(speedup_of(machine.measurement(1, 12))));
}

TEST(Speedup, LeavesRoomForWhatDoesNotAverageOut) {
  std::vector<BlockPair> pairs(1000, BlockPair{{1, 1}, {1, 1}});
  const Ratio ratio = speedup_of(pairs);
  EXPECT_LT(ratio.interval.low, 0.997);
  EXPECT_GT(ratio.interval.high, 1.003);
}

TEST(Speedup, NothingTimedIsNoSpeedup) {
  for (const std::vector<BlockPair>& pairs : {std::vector<BlockPair>{}, {{{}, {}}}, {{{1}, {}}}, {{{}, {1}}}, {{{1}, {0}}}}) {
    const Ratio ratio = speedup_of(pairs);
    EXPECT_EQ(ratio.value, 0);
    EXPECT_EQ(ratio.interval.low, 0);
    EXPECT_EQ(ratio.interval.high, 0);
  }
}

}  // namespace
}  // namespace kw
