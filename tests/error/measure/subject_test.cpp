#include "measure/subject.h"

#include <gtest/gtest.h>

#include <csignal>

#include "measure/measure.h"
#include "support/compiled_kernel.h"
#include "support/temp_home.h"

namespace kw {
namespace {

// Timing of tests/problems/row_mean.py with kernels and checks that fail in some way.
class SubjectErrorTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    home_ = new testing::TempHome;
    oracle_ = new OracleClient({2, {}, {}});
    auto source = load_problem(testing::test_file("problems/row_mean.py"), *oracle_);
    ASSERT_TRUE(source.ok()) << source.error().message;
    source_ = new ProblemSource(*source);
    auto sets = timing_sets(source_->description, TensorStore(*source_, "float32"), 4711, *oracle_);
    ASSERT_TRUE(sets.ok()) << sets.error().message;
    sets_ = new TimingSets(std::move(*sets));
  }
  static void TearDownTestSuite() {
    delete sets_;
    delete source_;
    delete oracle_;
    delete home_;
  }
  static std::unique_ptr<KernelSubject> subject(const std::string& body, const OutputCheck& check,
                                                std::chrono::milliseconds deadline = std::chrono::seconds(20)) {
    static std::vector<testing::BuiltKernel> built;  // objects outlive the subjects
    built.push_back(
        testing::build(source_->description,
                       "#include \"problem.h\"\nextern \"C\" void kw_kernel(const float* x, float* out) {\n" + body + "\n}\n"));
    EXPECT_TRUE(built.back().outcome.kernel.has_value()) << built.back().outcome.diagnosis.summary;
    SessionOptions options;
    options.mode = testing::sandbox_mode();
    auto made = KernelSubject::make(*built.back().outcome.kernel, source_->description, *sets_, options, deadline, check);
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
    return std::move(made).value();
  }
  static Result<std::optional<RunFailure>> anything_goes(Session&, const TensorSet&, int) { return std::optional<RunFailure>{}; }

  static inline testing::TempHome* home_ = nullptr;
  static inline OracleClient* oracle_ = nullptr;
  static inline ProblemSource* source_ = nullptr;
  static inline TimingSets* sets_ = nullptr;
};

const int kOrder[] = {2, 0, 3, 1};

TEST_F(SubjectErrorTest, ABlockHasATimeForEachTimedCallAndTheFirstBlocksOutputsAreChecked) {
  int checked = 0;
  const auto kernel =
      subject("for (std::int64_t i = 0; i < out_numel; ++i) out[i] = x[i];", [&](Session&, const TensorSet& set, int slot) {
        ++checked;
        EXPECT_FALSE(set.folder.empty());
        EXPECT_GE(slot, 0);
        return Result<std::optional<RunFailure>>(std::optional<RunFailure>{});
      });
  const auto block = kernel->block(kOrder, 1);
  ASSERT_TRUE(block.ok() && block->ok()) << (block.ok() ? block->failure.diagnosis.summary : block.error().message);
  EXPECT_EQ(block->value->size(), 3u);
  EXPECT_EQ(checked, static_cast<int>(std::size(kOrder)));
  EXPECT_EQ(kernel->checked_calls(), checked);
  EXPECT_EQ(kernel->prepares().size(), 1u);
}

TEST_F(SubjectErrorTest, AWrongTimedOutputEndsTheTiming) {
  const auto kernel = subject("out[0] = x[0];", [](Session&, const TensorSet&, int) -> Result<std::optional<RunFailure>> {
    RunFailure failure;
    failure.verdict = Verdict::wrong;
    return std::optional(failure);
  });
  const auto block = kernel->block(kOrder, 1);
  ASSERT_TRUE(block.ok());
  EXPECT_FALSE(block->ok());
  EXPECT_EQ(block->failure.verdict, Verdict::wrong);
}

TEST_F(SubjectErrorTest, ACrashOrAnEndlessCallIsAFailureOfTheBlock) {
  auto crashed = subject("*reinterpret_cast<volatile int*>(out_numel > 0 ? 16 : 8) = 1;", anything_goes)->block(kOrder, 1);
  ASSERT_TRUE(crashed.ok());
  EXPECT_EQ(crashed->failure.verdict, Verdict::crashed);
  auto endless = subject("for (volatile int i = 0;; i = 1) {}", anything_goes, std::chrono::milliseconds(100))->block(kOrder, 1);
  ASSERT_TRUE(endless.ok());
  EXPECT_EQ(endless->failure.verdict, Verdict::timed_out);
}

TEST_F(SubjectErrorTest, TheBaselineSurvivesTheOraclesDeath) {
  auto baseline = OracleSubject::make(*oracle_, source_->description.file, *sets_, "eager", 1);
  ASSERT_TRUE(baseline.ok()) << baseline.error().message;
  EXPECT_EQ((*baseline)->block(kOrder, 1)->value->size(), 3u);
  ASSERT_EQ(::kill(oracle_->pid(), SIGKILL), 0);
  const auto block = (*baseline)->block(kOrder, 2);
  ASSERT_TRUE(block.ok()) << block.error().message;
  EXPECT_EQ(block->value->size(), 2u);
  EXPECT_FALSE(OracleSubject::make(*oracle_, source_->description.file, *sets_, "no-such-mode", 1).ok());
}

}  // namespace
}  // namespace kw
