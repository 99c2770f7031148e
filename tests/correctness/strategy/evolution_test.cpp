#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "correctness/strategy/few_strategies.h"
#include "strategy/crossover.h"
#include "strategy/ledger_entries.h"
#include "strategy/lessons.h"
#include "strategy/mutation.h"

namespace kw {
namespace {

const StrategyPool& few() {
  static const StrategyPool pool = *StrategyPool::from(testing::few_strategies());
  return pool;
}

LedgerEntry entry(const std::string& id, double measured, const std::string& zone = "memory",
                  const std::string& workload_class = "matmul") {
  return {id, zone, workload_class, few().find(id)->predicts, measured, false, "run", 0};
}
LedgerEntry failure(const std::string& id) {
  LedgerEntry made = entry(id, 1);
  made.failed = true;
  return made;
}
std::vector<LedgerEntry> repeated(const LedgerEntry& one, int times) { return {static_cast<std::size_t>(times), one}; }

TEST(Random, IsTheSameEverywhere) {
  Random random(1234567);  // the values that the authors of SplitMix64 give
  EXPECT_EQ(random.next(), 6457827717110365317U);
  EXPECT_EQ(random.next(), 3203168211198807973U);
  EXPECT_EQ(Random(7).fork(1).next(), Random(7).fork(1).next());
  EXPECT_NE(Random(7).fork(1).next(), Random(7).fork(2).next());
  Random resumed(random.state());
  EXPECT_EQ(resumed.next(), random.next());
}

TEST(Random, DrawsEvenlyAndByWeight) {
  Random random(5);
  std::array<int, 3> even{}, weighted{};
  double sum = 0, squares = 0, lowest = 1, highest = 0;
  const std::array<double, 3> weights{1, 0, 3};
  for (int i = 0; i < 9000; ++i) {
    ++even[random.below(std::size_t{3})];
    ++weighted[random.weighted(weights)];
    const double uniform = random.uniform(), normal = random.normal();
    lowest = std::min(lowest, uniform);
    highest = std::max(highest, uniform);
    sum += normal;
    squares += normal * normal;
  }
  for (const int count : even) EXPECT_NEAR(count, 3000, 250);
  EXPECT_EQ(weighted[1], 0);
  EXPECT_NEAR(weighted[2], 6750, 250);
  EXPECT_GE(lowest, 0);
  EXPECT_LT(lowest, 0.01);
  EXPECT_LT(highest, 1);
  EXPECT_GT(highest, 0.99);
  EXPECT_NEAR(sum / 9000, 0, 0.05);
  EXPECT_NEAR(squares / 9000, 1, 0.06);
  EXPECT_EQ(random.below(0), 0);
  EXPECT_EQ(random.below(1), 0);
  EXPECT_LT(random.weighted(std::array<double, 2>{0, std::nan("")}), 2U);
}

TEST(Ledger, BelievesThePredictionUntilSomethingIsMeasured) {
  const Belief memory = Ledger().belief(*few().find("tile"), "memory", "matmul");
  const Belief compute = Ledger().belief(*few().find("tile"), "compute", "matmul");
  EXPECT_DOUBLE_EQ(compute.gain, std::log(3.0));
  EXPECT_DOUBLE_EQ(memory.gain, 0.25 * std::log(3.0)) << "outside its zone";
  EXPECT_GT(compute.score, compute.gain) << "what was never tried is worth trying";
  EXPECT_EQ(compute.count, 0);
  EXPECT_TRUE(Ledger().rows().empty());
}

TEST(Ledger, MovesFromThePredictionToWhatWasMeasured) {
  const Strategy& vectors = *few().find("vectors");
  double last = Ledger().belief(vectors, "memory", "matmul").gain;
  double last_spread = 1;
  for (const int n : {1, 3, 10, 100}) {
    const Belief belief = Ledger(repeated(entry("vectors", 1.1), n)).belief(vectors, "memory", "matmul");
    EXPECT_LT(belief.gain, last);
    EXPECT_GT(belief.gain, std::log(1.1));
    EXPECT_LT(belief.spread, last_spread) << "the more is measured, the surer";
    EXPECT_EQ(belief.count, n);
    last = belief.gain;
    last_spread = belief.spread;
  }
  EXPECT_NEAR(last, std::log(1.1), 0.005);
}

TEST(Ledger, FallsBackToWiderGroups) {
  const Strategy& vectors = *few().find("vectors");
  const Ledger ledger(repeated(entry("vectors", 4, "compute", "matmul"), 50));
  const double here = ledger.belief(vectors, "compute", "matmul").gain;
  const double other_class = ledger.belief(vectors, "compute", "softmax").gain;
  const double other_zone = ledger.belief(vectors, "memory", "softmax").gain;
  EXPECT_GT(here, other_class);
  EXPECT_GT(other_class, other_zone);
  EXPECT_GT(other_zone, Ledger().belief(vectors, "memory", "softmax").gain);
  EXPECT_EQ(ledger.belief(vectors, "memory", "softmax").count, 50) << "of the strategy alone";
  EXPECT_EQ(ledger.belief(vectors, "compute", "matmul + loss").gain, here) << "filed under the main class";
  EXPECT_EQ(ledger.belief(*few().find("tile"), "compute", "matmul").count, 0) << "another strategy learns nothing";
}

TEST(Ledger, FailuresLowerTheScoreAndNotTheGain) {
  const Strategy& vectors = *few().find("vectors");
  auto entries = repeated(entry("vectors", 2), 5);
  const Belief before = Ledger(entries).belief(vectors, "memory", "matmul");
  entries.push_back(failure("vectors"));
  const Belief once = Ledger(entries).belief(vectors, "memory", "matmul");
  entries.insert(entries.end(), 20, failure("vectors"));
  const Belief often = Ledger(entries).belief(vectors, "memory", "matmul");
  EXPECT_EQ(before.gain, often.gain);
  EXPECT_GT(before.score, once.score);
  EXPECT_GT(once.score, often.score);
  EXPECT_EQ(often.failures, 21);
  EXPECT_EQ(before.fail_rate, 0);
  EXPECT_GT(often.fail_rate, 0.5);
}

TEST(Ledger, RowsShowGeometricMeansWithIntervals) {
  auto entries =
      std::vector{entry("vectors", 2), entry("vectors", 8), entry("tile", 1.2, "compute"), failure("wide"), failure("wide")};
  entries.push_back(entry("vectors", std::nan("")));
  entries.push_back(entry("vectors", -3));
  const auto rows = Ledger(entries).rows();
  ASSERT_EQ(rows.size(), 3U) << "what is no number is left out";
  EXPECT_EQ(rows[0].strategy, "tile");
  EXPECT_EQ(rows[0].zone, "compute");
  EXPECT_EQ(rows[1].strategy, "vectors");
  EXPECT_EQ(rows[1].workload_class, "matmul");
  EXPECT_NEAR(rows[1].measured, 4, 1e-9);
  EXPECT_NEAR(rows[1].predicted, 2, 1e-9);
  EXPECT_EQ(rows[1].n, 2);
  EXPECT_LT(rows[1].low, 2);
  EXPECT_GT(rows[1].high, 8);
  EXPECT_LT(rows[0].low, 1.2);
  EXPECT_GT(rows[0].high, 1.2);
  EXPECT_EQ(rows[2].n, 0);
  EXPECT_EQ(rows[2].failures, 2);
  EXPECT_EQ(rows[2].measured, 1);
  EXPECT_EQ(Ledger({entry("vectors", 2, "", "")}).rows().size(), 1U) << "a zone that is not known hides no entry";
  EXPECT_EQ(Ledger({entry("vectors", 2, "memory", ""), entry("vectors", 2), entry("vectors", 2, "compute")}).rows().size(), 3U);
}

Individual individual(std::int64_t index, const std::vector<std::string>& strategies, double seconds,
                      std::vector<std::int64_t> parents = {}) {
  Individual made;
  made.index = index;
  made.proposal.parents = std::move(parents);
  for (const std::string& id : strategies) made.strategies.push_back({id, Presence::present, "seen"});
  made.kernel.claims = strategies;
  made.verdict = seconds > 0 ? Verdict::passed : Verdict::wrong;
  made.seconds = seconds;
  return made;
}

// "vectors 2", "vectors failed", one an entry.
std::vector<std::string> told(const std::vector<Individual>& individuals, std::int64_t first) {
  std::vector<std::string> texts;
  for (const LedgerEntry& e : ledger_entries(few(), individuals, first, {"r1", "memory", "matmul + loss"})) {
    EXPECT_EQ(e.zone, "memory");
    EXPECT_EQ(e.workload_class, "matmul");
    EXPECT_EQ(e.run, "r1");
    EXPECT_GE(e.individual, first);
    EXPECT_EQ(e.predicted, few().find(e.strategy) ? few().find(e.strategy)->predicts : 1);
    char number[32];
    std::snprintf(number, sizeof number, "%.3g", e.measured);
    texts.push_back(e.strategy + " " + (e.failed ? "failed" : number));
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(LedgerEntries, CompareWithTheNearestRelative) {
  const Individual plain = individual(0, {}, 8);
  EXPECT_EQ(told({plain, individual(1, {"vectors"}, 4, {0})}, 0), (Texts{"vectors 2"}));
  EXPECT_EQ(told({plain, individual(1, {"vectors", "threads"}, 2, {0})}, 0), (Texts{"threads 2", "vectors 2"})) << "shared";
  EXPECT_EQ(told({individual(0, {"vectors"}, 4), individual(1, {}, 8, {0})}, 0), (Texts{"vectors 2"})) << "given up: inverted";
  EXPECT_EQ(told({individual(0, {"stream", "vectors"}, 4), individual(1, {"tile", "vectors"}, 1, {0})}, 0),
            (Texts{"tile 2", "stream 0.5"}));
  EXPECT_EQ(told({plain, individual(1, {"vectors"}, 4, {0}), individual(2, {"vectors", "threads"}, 2, {0})}, 2),
            (Texts{"threads 2"}))
      << "a stranger that is nearer than the parent";
  EXPECT_EQ(told({plain, individual(1, {"a", "b", "c", "d"}, 4, {0})}, 0), (Texts{"a 1.19", "b 1.19", "c 1.19", "d 1.19"}))
      << "far apart, and all that there is";
  EXPECT_EQ(told({plain, individual(1, {"a", "b", "c", "d"}, 4, {0}), individual(2, {"vectors"}, 4, {0})}, 0), (Texts{"vectors 2"}))
      << "too far apart where anything is nearer";
  EXPECT_EQ(told({plain, individual(1, {}, 4, {0})}, 0), Texts{}) << "only knobs differ";
  EXPECT_EQ(told({plain, individual(1, {"vectors"}, 4), individual(2, {"threads"}, 4)}, 2), (Texts{"threads 2"})) << "from 2 on";
}

TEST(LedgerEntries, ParentsAndEqualKnobsComeFirstAmongEquals) {
  std::vector<Individual> all{individual(0, {"vectors"}, 8), individual(1, {"threads"}, 4),
                              individual(2, {"vectors", "threads"}, 2, {0})};
  EXPECT_EQ(told(all, 2), (Texts{"threads 4"})) << "the parent";
  all[2].proposal.parents = {};
  EXPECT_EQ(told(all, 2), (Texts{"vectors 2"})) << "the later one";
  for (Individual& one : all) one.kernel.knobs = {{"KW_TILE", 4, {2, 4}}};
  all[1].proposal.knobs = {{"KW_TILE", "2"}};
  EXPECT_EQ(told(all, 2), (Texts{"threads 4"})) << "the one with the same knobs";
  all[2].proposal.knobs = {{"KW_TILE", "2"}};
  EXPECT_EQ(told(all, 2), (Texts{"vectors 2"}));
}

TEST(LedgerEntries, FailuresBlameWhatAPassingRelativeLacks) {
  const Individual plain = individual(0, {"vectors"}, 8);
  EXPECT_EQ(told({plain, individual(1, {"vectors", "stream"}, 0, {0})}, 0), (Texts{"stream failed"}));
  EXPECT_EQ(told({plain, individual(1, {}, 0, {0})}, 0), Texts{}) << "nothing was added";
  EXPECT_EQ(told({individual(0, {}, 0), individual(1, {"vectors"}, 0, {0})}, 0), Texts{}) << "no relative passed";
  Individual never_compiled = individual(1, {"stream", "vectors"}, 0, {0});
  never_compiled.strategies.clear();
  never_compiled.verdict = Verdict::compile_failed;
  EXPECT_EQ(told({plain, never_compiled}, 0), (Texts{"stream failed"})) << "by its claims";
  Individual mistrusted = individual(1, {"stream", "vectors"}, 0, {0});
  mistrusted.verdict = Verdict::mistrusted;
  EXPECT_EQ(told({plain, mistrusted}, 0), Texts{}) << "noise is nobody's fault";
}

TEST(LedgerEntries, OnlyWhatIsReallyThereCounts) {
  Individual child = individual(1, {"stream", "vectors"}, 4, {0});
  child.strategies[0].presence = Presence::struck;
  EXPECT_EQ(told({individual(0, {}, 8), child}, 0), (Texts{"vectors 2"}));
  Individual twin = individual(2, {"threads", "vectors"}, 0, {1});
  twin.verdict = Verdict::passed;
  twin.duplicate_of = 1;
  EXPECT_EQ(told({individual(0, {}, 8), child, twin}, 2), (Texts{"threads 1"})) << "the same code: it changed nothing";
}

StrategySpace space_of(const Ledger& ledger, std::string zone = "memory") {
  return {few(), ledger, few().ids(), std::move(zone), "matmul"};
}

bool is_sound(const StrategySet& set) {
  for (const std::string& a : set) {
    for (const std::string& b : set)
      if (few().conflict(a, b)) return false;
    for (const std::string& need : few().find(a)->needs)
      if (!set.contains(need)) return false;
  }
  return true;
}

TEST(Crossover, LedgerThenZoneThenPredictionDecideConflicts) {
  const Ledger nothing;
  EXPECT_EQ(preferred(space_of(nothing, "memory"), "tile", "stream"), "stream") << "tile is for another zone";
  EXPECT_EQ(preferred(space_of(nothing, "compute"), "tile", "stream"), "tile") << "both of the zone: the larger promise";
  const Ledger bad_stream(repeated(entry("stream", 0.7), 20));
  EXPECT_EQ(preferred(space_of(bad_stream, "memory"), "stream", "tile"), "tile") << "the ledger before the zone";
  const Ledger good_stream(repeated(entry("stream", 5, "compute"), 20));
  EXPECT_EQ(preferred(space_of(good_stream, "compute"), "stream", "tile"), "stream") << "the ledger before the promise";
  const Ledger failing_tile(repeated(failure("tile"), 20));
  EXPECT_EQ(preferred(space_of(failing_tile, "compute"), "stream", "tile"), "stream");
}

TEST(Crossover, JoinsParentsIntoSoundSets) {
  const Ledger ledger;
  const StrategySpace space = space_of(ledger);
  Random random(3);
  EXPECT_EQ(cross(space, {"threads"}, {"stream", "vectors"}, random, Inheritance::all),
            (StrategySet{"stream", "threads", "vectors"}));
  EXPECT_EQ(cross(space, {"tile", "threads"}, {"stream", "vectors"}, random, Inheritance::all),
            (StrategySet{"stream", "threads", "vectors"}))
      << "tile and stream are in conflict";
  std::set<StrategySet> children;
  for (int i = 0; i < 200; ++i) {
    const StrategySet child =
        cross(space, {"tile", "threads", "vectors"}, {"stream", "vectors", "wide"}, random, Inheritance::some);
    EXPECT_TRUE(is_sound(child));
    EXPECT_TRUE(child.contains("vectors")) << "both have it";
    children.insert(child);
  }
  EXPECT_GE(children.size(), 4U);
  Random again(3), same(3);
  EXPECT_EQ(cross(space, {"tile"}, {"threads", "wide"}, again), cross(space, {"tile"}, {"threads", "wide"}, same));
}

TEST(Crossover, ClosesNeedsOrDropsWhatNeeds) {
  const Ledger ledger;
  StrategySpace space = space_of(ledger);
  EXPECT_EQ(sound(space, {"wide"}), (StrategySet{"stream", "vectors", "wide"})) << "all the way down";
  EXPECT_EQ(sound(space, {"wide", "tile"}), (StrategySet{"tile"})) << "stream, which wide needs, is in conflict with tile";
  EXPECT_EQ(sound(space, {"wide", "threads"}, {"vectors"}), (StrategySet{"threads"})) << "what must not come back";
  space.usable = {"wide", "stream", "threads"};
  EXPECT_EQ(sound(space, {"wide", "threads", "tile", "unheard_of"}), (StrategySet{"threads"}));
}

TEST(Mutation, AddsDropsAndSwapsSoundly) {
  const Ledger ledger;
  const StrategySpace space = space_of(ledger);
  Random random(11);
  const StrategySet all{"stream", "threads", "vectors", "wide"};
  for (int i = 0; i < 200; ++i) {
    const StrategySet more = changed(space, {"threads"}, Change::add, random);
    EXPECT_TRUE(more.contains("threads") && more.size() > 1 && is_sound(more));
    const StrategySet less = changed(space, all, Change::drop, random);
    EXPECT_TRUE(less.size() < all.size() && is_sound(less) && std::includes(all.begin(), all.end(), less.begin(), less.end()));
    const StrategySet swapped = changed(space, {"threads"}, Change::swap, random);
    EXPECT_TRUE(!swapped.contains("threads") && !swapped.empty() && is_sound(swapped));
    const StrategySet mutant = mutated(space, all, random);
    EXPECT_TRUE(mutant != all && is_sound(mutant));
    EXPECT_TRUE(is_sound(drawn_set(space, random)));
  }
  EXPECT_EQ(changed(space, all, Change::add, random), (StrategySet{"tile", "threads", "vectors"}))
      << "the rival gives way to the new";
  EXPECT_EQ(changed(space, {}, Change::drop, random), StrategySet{});
  StrategySpace nothing = space;
  nothing.usable = {};
  EXPECT_EQ(mutated(nothing, {}, random), StrategySet{});
}

TEST(Mutation, FollowsTheLedger) {
  auto entries = repeated(entry("threads", 4), 30);
  for (const auto& bad : repeated(entry("tile", 0.4), 30)) entries.push_back(bad);
  const Ledger ledger(entries);
  const StrategySpace space = space_of(ledger);
  EXPECT_GT(chance_of(space, "threads"), 0.9);
  EXPECT_LT(chance_of(space, "tile"), 0.2);
  Random random(1);
  int good = 0, bad = 0, dropped_bad = 0;
  for (int i = 0; i < 300; ++i) {
    const StrategySet more = changed(space, {}, Change::add, random);
    good += more.contains("threads") ? 1 : 0;
    bad += more.contains("tile") ? 1 : 0;
    dropped_bad += changed(space, {"tile", "threads"}, Change::drop, random).contains("tile") ? 0 : 1;
  }
  EXPECT_GT(good, 10 * bad);
  EXPECT_GT(dropped_bad, 280);
}

Lesson lesson(std::string run, std::string workload_class, std::string zone, Features features, double gain = 2) {
  Lesson made;
  made.run = std::move(run);
  made.workload_class = std::move(workload_class);
  made.zone = std::move(zone);
  made.features = std::move(features);
  made.gain = gain;
  return made;
}

TEST(Lessons, NearestFirst) {
  const Features rows{{"row_count", 1024}, {"row_elements", 4096}, {"has_rows", 1}};
  const std::vector<Lesson> lessons{
      lesson("other class", "matmul", "memory", rows),
      lesson("part of class", "matmul + softmax", "memory", rows),
      lesson("far", "softmax", "memory", {{"row_count", 4}, {"row_elements", 8}, {"has_rows", 1}}),
      lesson("other zone", "softmax", "latency", rows),
      lesson("near", "softmax", "memory", {{"row_count", 2048}, {"row_elements", 4096}, {"has_rows", 1}}),
      lesson("same, small gain", "softmax + pointwise", "memory", rows, 1.1),
      lesson("same, large gain", "softmax", "memory", rows, 3),
  };
  Texts order;
  const auto ranked = similar(lessons, "softmax", "memory", rows);
  for (const SimilarLesson& one : ranked) order.push_back(one.lesson->run);
  EXPECT_EQ(order, (Texts{"same, large gain", "same, small gain", "near", "other zone", "far", "part of class", "other class"}));
  EXPECT_EQ(ranked.front().distance, 0);
  EXPECT_TRUE(similar({}, "softmax", "memory", rows).empty());
}

TEST(Lessons, DistanceOfFeaturesIsLogarithmicAndSymmetric) {
  const Features a{{"flops", 1e6}}, b{{"flops", 1e7}}, c{{"flops", 1e8}};
  EXPECT_NEAR(feature_distance(a, b), std::log(10.0), 1e-5);
  EXPECT_NEAR(feature_distance(a, c), 2 * feature_distance(a, b), 1e-5);
  EXPECT_EQ(feature_distance(a, b), feature_distance(b, a));
  EXPECT_EQ(feature_distance(a, a), 0);
  EXPECT_EQ(feature_distance({}, {{"threads", 0}}), 0) << "what is not there is 0";
}

}  // namespace
}  // namespace kw
