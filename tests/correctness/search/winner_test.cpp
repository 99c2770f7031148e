#include "search/winner.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

Individual timed(std::int64_t index, double speedup, std::vector<std::string> claims) {
  Individual individual;
  individual.index = index;
  individual.verdict = Verdict::passed;
  individual.speedup = speedup;
  individual.interval = {speedup * 0.99, speedup * 1.01};
  individual.kernel.claims = std::move(claims);
  individual.assembly_hash = std::to_string(index);
  return individual;
}

std::vector<Individual> some() {
  return {timed(0, 3.0, {"tiles", "winograd"}), timed(1, 2.5, {"tiles", "unroll", "winograd"}), timed(2, 1.5, {"tiles", "unroll"}),
          timed(3, 0.1, {}), timed(4, 1.2, {"tiles"})};
}

TEST(NextToConfirm, IsTheFastestThatWasNotTried) {
  EXPECT_EQ(next_to_confirm(some(), {}, {}), 0);
  EXPECT_EQ(next_to_confirm(some(), {0}, {}), 1);
}

TEST(NextToConfirm, PassesOverWhatRoundsAsOneThatDidNotHold) {
  EXPECT_EQ(next_to_confirm(some(), {0}, {"winograd"}), 2);
  EXPECT_EQ(next_to_confirm(some(), {0, 2}, {"tiles", "winograd"}), 3);
}

TEST(NextToConfirm, TakesTheSuspiciousWhereNothingElseIsThere) {
  const std::vector<Individual> two{timed(0, 3.0, {"winograd"}), timed(1, 2.0, {"winograd"})};
  EXPECT_EQ(next_to_confirm(two, {0}, {"winograd"}), 1);
  EXPECT_EQ(next_to_confirm(two, {0, 1}, {"winograd"}), -1);
}

TEST(ProposalWithout, LeavesStrategiesOutEverywhereAndTheirKnobs) {
  Individual refused = timed(7, 2, {});
  refused.proposal.strategies = {"tiles", "winograd"};
  refused.proposal.knobs = {{"KW_MR", "4"}};
  refused.proposal.parts = {{"a", {"winograd"}, {{"KW_MR", "4"}}}, {"b", {"tiles"}, {{"KW_MR", "6"}}}};
  const Proposal without = proposal_without(refused, {"winograd"});
  EXPECT_EQ(without.strategies, std::vector<std::string>{"tiles"});
  EXPECT_TRUE(without.knobs.empty() && without.parts[0].strategies.empty() && without.parts[0].knobs.empty());
  EXPECT_EQ(without.parts[1].knobs.at("KW_MR"), "6");
  EXPECT_EQ(without.parents, std::vector<std::int64_t>{7});
}

TEST(NextToConfirm, IsThePlainestAtLast) {
  ASSERT_EQ(kMostConfirmations, 4u);
  EXPECT_EQ(next_to_confirm(some(), {0, 1, 2}, {}), 3);
}

}  // namespace
}  // namespace kw
