#include "search/run_budget.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

RunOptions within(double seconds) {
  RunOptions options;
  options.seconds = seconds;
  return options;
}

const RunBudget::Moment kNow = std::chrono::steady_clock::now();

double seconds_after_now(RunBudget::Moment moment) { return std::chrono::duration<double>(moment - kNow).count(); }

TEST(RunBudget, EndsWhenItsTimeIsOverInAll) {
  const RunBudget budget(within(60), 0, kNow);
  EXPECT_NEAR(seconds_after_now(*budget.end()), 60, 1e-6);
  const RunBudget resumed(within(60), 45, kNow);
  EXPECT_NEAR(seconds_after_now(*resumed.end()), 15, 1e-6) << "earlier sessions count";
  EXPECT_FALSE(RunBudget(within(0), 0, kNow).end());
}

TEST(RunBudget, TheSearchLeavesTimeToConfirmAndConfirmingLeavesTimeToSearch) {
  RunBudget budget(within(300), 0, kNow);
  budget.plan_confirmation(5, RunBudget::TorchCompile::wanted);
  EXPECT_GT(budget.confirmation_seconds(), 5);
  EXPECT_NEAR(seconds_after_now(*budget.end_of_search()), 300 - budget.confirmation_seconds(), 1e-6);
  RunBudget slow(within(60), 0, kNow);
  slow.plan_confirmation(1000, RunBudget::TorchCompile::wanted);
  EXPECT_LE(slow.confirmation_seconds(), 30);
}

}  // namespace
}  // namespace kw
