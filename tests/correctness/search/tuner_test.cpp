#include "search/tuner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "search/score.h"
#include "strategy/random.h"

namespace kw {
namespace {

Kernel tiles() {
  Kernel kernel;
  kernel.knobs = {{"KW_MR", 4, {4, 6, 8, 12}}, {"KW_NR", 1, {1, 2, 3, 4}}, {"KW_KC", 128, {128, 192, 256, 384, 512}}};
  kernel.constraints = {"KW_MR * KW_NR <= 24", "KW_KC % 64 == 0"};
  return kernel;
}

KnobSpace space_of(const Kernel& kernel) {
  auto space = KnobSpace::of(kernel);
  EXPECT_TRUE(space.ok()) << (space.ok() ? "" : space.error().message);
  return *space;
}

std::int64_t number(const KnobSpace& space, const KnobPoint& point, std::size_t knob) {
  return space.knobs()[knob].values[static_cast<std::size_t>(point[knob])];
}

// Best at MR 8, NR 3, KC 256, which the constraint allows.
double tile_speed(const KnobSpace& space, const KnobPoint& point) {
  const auto off = [&](std::size_t knob, double best) {
    return std::abs(std::log2(static_cast<double>(number(space, point, knob)) / best));
  };
  return 1 - 0.3 * off(0, 8) - 0.3 * off(1, 3) - 0.1 * off(2, 256);
}

struct TunerRun {
  std::vector<KnobTrial> trials;
  KnobPoint best;
};

TunerRun tune(const Kernel& kernel, int glances, int batch, double noise, KnobMemory& memory, std::uint64_t seed = 1) {
  const KnobSpace space = space_of(kernel);
  Random random(seed + 100);
  const auto score = [&](const KnobTrial& trial) {
    const double deviation = noise * (trial.effort == 0 ? 2 : trial.effort == 1 ? 1 : 0.4);
    return Score{true, tile_speed(space, trial.point) + deviation * random.normal(), deviation};
  };
  Tuner tuner(space, space.standard(), score({space.standard(), 1}), glances, memory, Random(seed));
  TunerRun run;
  for (auto trials = tuner.ask(batch); !trials.empty(); trials = tuner.ask(batch)) {
    EXPECT_LE(static_cast<int>(trials.size()), batch);
    for (const KnobTrial& trial : trials) run.trials.push_back(trial);
    for (const KnobTrial& trial : trials) tuner.tell(trial, score(trial));
  }
  run.best = tuner.best();
  return run;
}

TEST(KnobSpaceTest, HandsOutAllowedPointsOnly) {
  const KnobSpace space = space_of(tiles());
  EXPECT_EQ(space.points(), 80);
  const auto all = space.all(100);
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(all->size(), 5U * (4 + 4 + 3 + 2));
  for (const KnobPoint& point : *all) {
    EXPECT_LE(number(space, point, 0) * number(space, point, 1), 24);
    for (const KnobPoint& neighbour : space.neighbours(point)) EXPECT_TRUE(space.allows(neighbour));
  }
  EXPECT_FALSE(space.all(79).has_value());
  Random random(3);
  std::set<KnobPoint> drawn;
  for (int i = 0; i < 500; ++i) {
    const auto point = space.random([&](int n) { return random.below(n); });
    ASSERT_TRUE(point.has_value());
    EXPECT_TRUE(space.allows(*point));
    drawn.insert(*point);
  }
  EXPECT_GT(drawn.size(), 55U);
}

TEST(KnobSpaceTest, TakesOverWhatItCanOfAnotherKernelsKnobs) {
  const KnobSpace space = space_of(tiles());
  EXPECT_EQ(space.values(space.standard()), KnobValues{});
  const KnobValues fitting{{"KW_MR", "8"}, {"KW_NR", "3"}, {"KW_OTHER", "5"}};
  EXPECT_EQ(space.values(space.nearest(fitting)), (KnobValues{{"KW_MR", "8"}, {"KW_NR", "3"}}));
  const KnobPoint partly = space.nearest({{"KW_MR", "12"}, {"KW_NR", "4"}, {"KW_KC", "7"}});
  EXPECT_EQ(space.values(partly), (KnobValues{{"KW_MR", "12"}}));
}

TEST(KnobSpaceTest, RefusesKnobsThatMakeNoSense) {
  Kernel kernel = tiles();
  kernel.constraints = {"KW_MR * KW_MISSING <= 24"};
  auto space = KnobSpace::of(kernel);
  ASSERT_FALSE(space.ok());
  EXPECT_NE(space.error().message.find("KW_MISSING"), std::string::npos);
  kernel.constraints = {"KW_MR > 100"};
  EXPECT_FALSE(KnobSpace::of(kernel).ok());
  kernel.constraints = {"KW_MR <="};
  EXPECT_FALSE(KnobSpace::of(kernel).ok());
  kernel = tiles();
  kernel.knobs[0].standard = 5;
  space = KnobSpace::of(kernel);
  ASSERT_FALSE(space.ok());
  EXPECT_NE(space.error().message.find("KW_MR"), std::string::npos);
}

TEST(TunerTest, FindsGoodKnobsAndNeverLeavesTheSpace) {
  const KnobSpace space = space_of(tiles());
  std::vector<double> left;  // how far below the best
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    KnobMemory memory;
    const TunerRun run = tune(tiles(), 20, 2, 0.01, memory, seed);
    for (const KnobTrial& trial : run.trials) EXPECT_TRUE(space.allows(trial.point));
    left.push_back(1 - tile_speed(space, run.best));
  }
  std::sort(left.begin(), left.end());
  EXPECT_LT(left[10], 0.06);
  EXPECT_LT(left[19], 0.35);
}

TEST(TunerTest, GlancesAtManyAndTimesFewWithCare) {
  KnobMemory memory;
  const TunerRun run = tune(tiles(), 12, 3, 0.01, memory);
  std::map<int, int> by_effort;
  std::set<std::pair<KnobPoint, int>> seen;
  for (const KnobTrial& trial : run.trials) {
    ++by_effort[trial.effort];
    EXPECT_TRUE(seen.emplace(trial.point, trial.effort).second) << "the same point with the same effort twice";
  }
  EXPECT_EQ(by_effort[0], 12);
  EXPECT_GE(by_effort[1], 1);
  EXPECT_LE(by_effort[1], 3);
  EXPECT_EQ(by_effort[2], 2);  // the finalist and where it began
  EXPECT_EQ(run.trials.back().point, space_of(tiles()).standard());
}

TEST(TunerTest, TriesAllOfATinySpaceAsUsual) {
  Kernel kernel;
  kernel.knobs = {{"KW_UNROLL", 2, {2, 4, 8}}};
  const KnobSpace space = space_of(kernel);
  KnobMemory memory;
  Tuner tuner(space, space.standard(), {true, 0, 0.01}, 10, memory, Random(1));
  const auto trials = tuner.ask(5);
  ASSERT_EQ(trials.size(), 2U);
  for (const KnobTrial& trial : trials) {
    EXPECT_EQ(trial.effort, 1);
    tuner.tell(trial, {true, trial.point == KnobPoint{2} ? 0.2 : -0.1, 0.01});
  }
  for (const KnobTrial& trial : tuner.ask(5)) tuner.tell(trial, {true, trial.point == KnobPoint{2} ? 0.2 : 0.0, 0.005});
  EXPECT_TRUE(tuner.ask(5).empty());
  EXPECT_EQ(tuner.best(), KnobPoint{2});
}

TEST(TunerTest, NoiseAloneDoesNotMoveItAndFailuresNeverWin) {
  Kernel kernel;
  kernel.knobs = {{"KW_UNROLL", 2, {2, 4, 8, 16, 32, 64}}};
  const KnobSpace space = space_of(kernel);
  int moved = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    KnobMemory memory;
    Tuner tuner(space, space.standard(), {true, 0.02 * random.normal(), 0.02}, 10, memory, Random(seed));
    for (auto trials = tuner.ask(2); !trials.empty(); trials = tuner.ask(2))
      for (const KnobTrial& trial : trials) {
        const double deviation = trial.effort == 0 ? 0.04 : trial.effort == 1 ? 0.02 : 0.008;
        tuner.tell(trial, {trial.point != KnobPoint{3}, deviation * random.normal(), deviation});
      }
    EXPECT_NE(tuner.best(), KnobPoint{3});
    moved += tuner.best() != space.standard() ? 1 : 0;
  }
  EXPECT_LE(moved, 12);
}

TEST(TunerTest, RemembersAcrossKernelsWhatPaid) {
  KnobMemory memory;
  tune(tiles(), 30, 1, 0.005, memory);
  Kernel other = tiles();
  other.knobs.push_back({"KW_UNROLL", 2, {2, 4, 8}});
  const KnobSpace space = space_of(other);
  Tuner tuner(space, space.standard(), {true, 0, 0.01}, 10, memory, Random(5));
  const auto first = tuner.ask(1);
  ASSERT_EQ(first.size(), 1U);
  // Among the steps from the start, more rows or more columns gave most.
  EXPECT_TRUE(first[0].point[0] == 1 || first[0].point[1] == 1);
  EXPECT_GT(memory.hint(space, space.standard(), space.nearest({{"KW_MR", "8"}})), 0);
}

TEST(ScoreTest, AChallengerMustBeAheadOfTheNoise) {
  const Score leader{true, 0, 0.02};
  EXPECT_FALSE(beats({true, 0.02, 0.02}, leader));
  EXPECT_TRUE(beats({true, 0.05, 0.02}, leader));
  EXPECT_FALSE(beats({true, 0.004, 0}, {true, 0, 0}));
  EXPECT_TRUE(beats({true, -3, 0.02}, Score{}));
  EXPECT_FALSE(beats(Score{}, leader));
  EXPECT_FALSE(beats(Score{}, Score{}));
  Individual individual;
  individual.speedup = 2;
  individual.interval = {1.9, 2.1};
  EXPECT_FALSE(score_of(individual).passed);
  individual.verdict = Verdict::passed;
  EXPECT_NEAR(score_of(individual).centre, std::log(2), 1e-12);
  EXPECT_NEAR(score_of(individual).deviation, std::log(2.1 / 1.9) / 3.92, 1e-12);
}

}  // namespace
}  // namespace kw
