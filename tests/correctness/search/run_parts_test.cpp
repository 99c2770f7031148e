#include <gtest/gtest.h>

#include "base/duration.h"
#include "search/final_source.h"
#include "search/run_budget.h"
#include "search/winner.h"

namespace kw {
namespace {

TEST(Duration, ReadsWhatPeopleWrite) {
  EXPECT_DOUBLE_EQ(*seconds_from_text("90"), 90);
  EXPECT_DOUBLE_EQ(*seconds_from_text("90s"), 90);
  EXPECT_DOUBLE_EQ(*seconds_from_text("1.5m"), 90);
  EXPECT_DOUBLE_EQ(*seconds_from_text("2h"), 7200);
  for (const char* text : {"", "s", "-3s", "0", "3 days", "nan", "inf", "1e400"})
    EXPECT_FALSE(seconds_from_text(text).ok()) << text;
}

TEST(FinalSource, HasTheWinningKnobsAsItsDefaults) {
  const std::string source =
      "// kw:knob KW_TILE 8 16 32\n#ifndef KW_TILE\n#define KW_TILE 8\n#endif\n#ifndef KW_OTHER\n#define KW_OTHER 1\n#endif\n"
      "#define KW_TILED (KW_TILE * 2)\nint x = KW_TILE;\n";
  const std::string text = with_knobs(source, {{"KW_TILE", "32"}, {"KW_TILED", "5"}});
  EXPECT_NE(text.find("#ifndef KW_TILE\n#define KW_TILE 32\n"), std::string::npos) << text;
  EXPECT_NE(text.find("#define KW_OTHER 1\n"), std::string::npos);
  EXPECT_NE(text.find("#define KW_TILED (KW_TILE * 2)\n"), std::string::npos) << "not a knob: nothing guards it";
  EXPECT_EQ(with_knobs(source, {}), source);
}

TEST(RunBudget, AlwaysAllowsTheFirstKernelAndKeepsTimeForTheEnd) {
  RunOptions options;
  options.seconds = 60;
  const auto now = std::chrono::steady_clock::now();
  RunBudget budget(options, 55, now);
  budget.plan_confirmation(1, RunBudget::TorchCompile::wanted);
  EXPECT_FALSE(budget.spent_up(0, 100)) << "a run that ends without a kernel helps nobody";
  EXPECT_TRUE(budget.spent_up(1, 0)) << "five seconds are too few for the confirmation";
  RunBudget fresh(options, 0, now);
  fresh.plan_confirmation(1, RunBudget::TorchCompile::wanted);
  EXPECT_FALSE(fresh.spent_up(5, 1));
  EXPECT_TRUE(fresh.spent_up(5, 59));
  EXPECT_LE(*fresh.left(), 60);
}

TEST(RunBudget, CountsEvaluations) {
  RunOptions options;
  options.evaluations = 10;
  const RunBudget budget(options, 1e6, std::chrono::steady_clock::now());
  EXPECT_FALSE(budget.spent_up(9, 1e6)) << "without a limit of time only evaluations count";
  EXPECT_TRUE(budget.spent_up(10, 0));
  EXPECT_FALSE(budget.left());
}

Individual timed(std::int64_t index, double speedup, double low, const std::string& hash) {
  Individual individual;
  individual.index = index;
  individual.verdict = Verdict::passed;
  individual.speedup = speedup;
  individual.interval = {low, 2 * speedup - low};
  individual.assembly_hash = hash;
  return individual;
}

TEST(Winner, RanksPassedKernelsCautiously) {
  Individual wrong = timed(0, 9, 9, "w");
  wrong.verdict = Verdict::wrong;
  const std::vector<Individual> all{wrong, timed(1, 2.0, 1.98, "a"), timed(2, 2.1, 1.2, "b"), timed(3, 1.99, 1.97, "a")};
  const auto order = ranked(all);
  ASSERT_EQ(order.size(), 2U) << "the wrong one does not count, and the same code counts once";
  EXPECT_EQ(order[0]->index, 1) << "an interval down to 1.2 is worth less than a sure 2.0";
  EXPECT_EQ(order[1]->index, 2);
}

}  // namespace
}  // namespace kw
