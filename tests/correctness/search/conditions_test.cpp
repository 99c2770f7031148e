#include "search/conditions.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/temp_home.h"

namespace kw {
namespace {

KnobValues conditions(const EvaluatorOptions& options, const Machine& machine = {}, bool on_gpu = false) {
  auto found = conditions_of(options, machine, on_gpu);
  EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().message);
  return found.ok() ? *found : KnobValues{};
}

TEST(Conditions, LimitsAndCeilingsAreAmongThem) {
  const EvaluatorOptions usual;
  EvaluatorOptions other;
  other.call_timeout = 0.05;
  EXPECT_NE(conditions(usual), conditions(other));
  other = {};
  other.compile_timeout = 1;
  EXPECT_NE(conditions(usual), conditions(other));
  Machine measured_again;
  measured_again.peaks = {{"avx2", 1, 100}};
  EXPECT_NE(conditions(usual), conditions(usual, measured_again));
  EXPECT_EQ(conditions(usual), conditions(usual));
}

TEST(Conditions, ADataSheetOfOnesOwnCountsByItsText) {
  const testing::TempHome home;
  EvaluatorOptions options;
  options.gpu = (data_home() / "own.json").string();
  EXPECT_FALSE(conditions_of(options, {}, true).ok()) << "there is no such file";
  ASSERT_TRUE(make_folders(data_home()).ok());
  std::ofstream(options.gpu) << "{}";
  const auto before = conditions(options, {}, true);
  std::ofstream(options.gpu) << "{\"more\": 1}";
  EXPECT_NE(before, conditions(options, {}, true));
}

TEST(Conditions, OnlySettingsThatChangeHowPyTorchWorksCount) {
  const char* const environment[] = {
      "ATEN_CPU_CAPABILITY=default", "OMP_NUM_THREADS=3",         "TORCH_HOME=/elsewhere", "PATH=/bin",
      "TORCHINDUCTOR_CACHE_DIR=/x",  "TORCH_COMPILE_DISABLE=1=2", "GOMP_SPINCOUNT=7",      nullptr};
  KnobValues settings = telling_settings(environment);
  settings.erase("ONEDNN_MAX_CPU_ISA");  // where this machine needs it
  EXPECT_EQ(settings, (KnobValues{{"ATEN_CPU_CAPABILITY", "default"}, {"TORCH_COMPILE_DISABLE", "1=2"}}));
}

TEST(StillHolds, NotWhatHangsOnHowBusyTheMachineWas) {
  VerdictRecord verdict;
  for (const Verdict each : {Verdict::timed_out, Verdict::out_of_memory}) {
    verdict.verdict = each;
    EXPECT_FALSE(still_holds(verdict, {})) << name_of(each);
  }
  for (const Verdict each : {Verdict::passed, Verdict::wrong, Verdict::mistrusted, Verdict::forbidden, Verdict::compile_failed}) {
    verdict.verdict = each;
    EXPECT_TRUE(still_holds(verdict, {})) << name_of(each);
  }
}

TEST(StillHolds, OnlyAPassThatRestsOnAsMuchAsIsAskedFor) {
  VerdictRecord verdict;
  verdict.verdict = Verdict::passed;
  verdict.gpu_budget_seconds = EvaluatorOptions().gpu_seconds;
  EXPECT_TRUE(still_holds(verdict, {}));
  verdict.gpu_budget_seconds /= 2;
  EXPECT_FALSE(still_holds(verdict, {}));
  verdict.verdict = Verdict::wrong;
  EXPECT_TRUE(still_holds(verdict, {})) << "wrong is wrong, however short the look";
  verdict = {};
  verdict.verdict = Verdict::passed;
  verdict.chosen_seed = 7;
  EXPECT_FALSE(still_holds(verdict, {}));
}

TEST(StillHolds, ATimingThatIsAsLongOrPreciseEnough) {
  EvaluatorOptions options;
  options.compile = false;
  TimingRecord timing;
  timing.comparisons = {{"eager", 2, 1, 2.0, {1.0, 3.0}, 20, 400}};
  timing.budget_seconds = options.seconds_per_baseline;
  EXPECT_TRUE(still_holds(timing, options));
  timing.budget_seconds = 1;
  EXPECT_FALSE(still_holds(timing, options));
  timing.comparisons[0].interval = {1.99, 2.01};
  EXPECT_TRUE(still_holds(timing, options)) << "it ended early because it was precise";
  options.compile = true;
  EXPECT_FALSE(still_holds(timing, options)) << "torch.compile was asked for and is not in it";
}

}  // namespace
}  // namespace kw
