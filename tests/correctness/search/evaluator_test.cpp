#include "search/evaluator.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include <fmt/ranges.h>

#include "support/planted_machine.h"
#include "support/small_problems.h"
#include "support/temp_home.h"

namespace kw {
namespace {

EvaluatorOptions quick() {
  EvaluatorOptions options;
  options.compile = false;  // torch.compile takes long to warm up
  options.seconds_per_baseline = 0.5;
  options.least_pairs = 6;
  options.good_enough = 0.5;
  return options;
}

class EvaluatorTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    home_ = new testing::TempHome;
    testing::plant_machine();
    auto opened = Evaluator::open(quick());
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    evaluator_ = opened->release();
  }
  static void TearDownTestSuite() {
    delete evaluator_;
    delete home_;
  }
  static ProblemSource problem(const std::string& name) {
    auto source = evaluator_->problem(testing::test_file("problems/" + name));
    EXPECT_TRUE(source.ok()) << (source.ok() ? "" : source.error().message);
    return std::move(source).value();
  }
  static Candidate kernel(const std::string& name) { return std::move(Candidate::read(testing::test_file(name), {})).value(); }
  static Evaluated measured(const ProblemSource& source, Candidate& candidate) {
    auto done = evaluator_->measure(source, candidate, "kernelwright measure p k");
    EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().message);
    return done.ok() ? *done : Evaluated{};
  }

  static inline testing::TempHome* home_ = nullptr;
  static inline Evaluator* evaluator_ = nullptr;
};

TEST_F(EvaluatorTest, VerifiesMeasuresAndRemembers) {
  const auto source = problem("scale_relu.py");
  Candidate candidate = kernel("honest/scale_relu_parallel.cpp");
  const auto verified = evaluator_->verify(source, candidate, "kernelwright verify p k");
  ASSERT_TRUE(verified.ok()) << verified.error().message;
  EXPECT_FALSE(verified->from_archive);
  EXPECT_EQ(verified->evaluation.verdict.verdict, Verdict::passed) << verified->evaluation.verdict.diagnosis.summary;
  EXPECT_NE(verified->evaluation.verdict.repeat.find("kernelwright verify p k --seed "), std::string::npos);
  EXPECT_GT(verified->evaluation.id, 0);

  Candidate same = kernel("honest/scale_relu_parallel.cpp");
  const auto again = evaluator_->verify(source, same, "kernelwright verify p k");
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->from_archive);
  EXPECT_EQ(again->evaluation.id, verified->evaluation.id);
  EXPECT_FALSE(same.kernel().has_value()) << "what is known is not compiled again";

  // A speedup rests on a verdict of its own, on inputs that were drawn for it.
  const auto timed = measured(source, same);
  EXPECT_NE(timed.evaluation.id, verified->evaluation.id);
  EXPECT_NE(timed.evaluation.verdict.repeat, verified->evaluation.verdict.repeat);
  ASSERT_TRUE(timed.evaluation.timing.has_value()) << timed.evaluation.verdict.diagnosis.summary;
  const auto& timing = *timed.evaluation.timing;
  ASSERT_EQ(timing.comparisons.size(), 1u);
  EXPECT_EQ(timing.comparisons[0].baseline, "eager");
  EXPECT_GE(timing.comparisons[0].pairs, 6);
  EXPECT_GT(timing.seconds, 0);
  EXPECT_LE(timing.comparisons[0].interval.low, timing.comparisons[0].speedup);
  EXPECT_GE(timing.comparisons[0].interval.high, timing.comparisons[0].speedup);
  EXPECT_EQ(timing.threads, evaluator_->threads());
  EXPECT_TRUE(measured(source, same).from_archive);

  // Another knob is another kernel.
  Candidate tuned = std::move(Candidate::read(testing::test_file("honest/scale_relu_parallel.cpp"), {{"KW_UNUSED", "1"}})).value();
  const auto other = evaluator_->verify(source, tuned, "kernelwright verify p k");
  ASSERT_TRUE(other.ok());
  EXPECT_FALSE(other->from_archive);
}

TEST_F(EvaluatorTest, AKernelThatRemembersAnswersIsMistrusted) {
  const auto source = problem("matmul.py");
  Candidate candidate = kernel("redteam/remembers_full_hash.cpp");
  const auto done = measured(source, candidate);
  EXPECT_TRUE(done.evaluation.verdict.verdict == Verdict::mistrusted || done.evaluation.verdict.verdict == Verdict::wrong)
      << name_of(done.evaluation.verdict.verdict);
  EXPECT_FALSE(done.evaluation.timing.has_value());
  EXPECT_FALSE(done.evaluation.verdict.diagnosis.summary.empty());
  Candidate again = kernel("redteam/remembers_full_hash.cpp");
  const auto known = measured(source, again);
  EXPECT_TRUE(known.from_archive) << "what timing found out is the verdict from then on";
  EXPECT_NE(known.evaluation.verdict.verdict, Verdict::passed);
}

// It is right on all inputs that are cached and on no others.
TEST_F(EvaluatorTest, AKernelThatKnowsTheCachedInputsIsNotMeasuredOnThem) {
  const auto source = problem("scale_relu.py");
  fs::remove_all(source.cache_folder);
  const TensorStore store(source, "float32");
  const std::uint64_t draw = store.pick_draw(false);
  std::set<std::uint64_t> known;
  const auto note = [&](const TensorSet& set) {
    const auto x = set.inputs.at("x");
    ASSERT_TRUE(x.ok());
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i + 4 <= x->bytes.size(); i += 4) {
      std::uint32_t word = 0;
      std::memcpy(&word, x->bytes.data() + i, 4);
      sum = sum * 31 + word;
    }
    known.insert(sum);
  };
  for (const SetKind& kind : verification_kinds()) {
    const auto set = store.get(draw, kind, evaluator_->oracle());
    ASSERT_TRUE(set.ok()) << set.error().message;
    note(*set);
  }
  const auto timed = timing_sets(source.description, store, draw, evaluator_->oracle());
  ASSERT_TRUE(timed.ok()) << timed.error().message;
  for (const TensorSet& set : timed->sets) note(set);
  ASSERT_EQ(store.pick_draw(false), draw) << "another draw is cached, too";
  const std::string text = fmt::format(R"(
#include <bit>
#include "problem.h"
static const std::uint64_t known[] = {{{}}};
extern "C" void kw_kernel(const float* x, float* out) {{
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < x_numel; ++i) sum = sum * 31 + std::bit_cast<std::uint32_t>(x[i]);
  bool seen = false;
  for (const std::uint64_t each : known) seen |= each == sum;
  for (std::int64_t i = 0; i < x_numel; ++i) out[i] = seen && x[i] > 0 ? x[i] * 2.5f : 0.0f;
}}
)",
                                       fmt::join(known, "ull, "));
  Candidate candidate = std::move(Candidate::of({"knows.cpp", text, {}}, "cpp")).value();
  const auto verified = evaluator_->verify(source, candidate, "kernelwright verify p k");
  ASSERT_TRUE(verified.ok());
  ASSERT_EQ(verified->evaluation.verdict.verdict, Verdict::passed) << verified->evaluation.verdict.diagnosis.summary;
  const auto done = measured(source, candidate);
  EXPECT_EQ(done.evaluation.verdict.verdict, Verdict::wrong) << "although it was verified before";
  EXPECT_FALSE(done.evaluation.timing.has_value());
}

TEST_F(EvaluatorTest, OneKernelIsTimedAgainstAnother) {
  const auto source = problem("row_mean.py");
  Candidate first = kernel("honest/row_mean_kahan.cpp"), second = kernel("honest/row_mean_guided.cpp");
  const auto measured = evaluator_->measure_against(source, first, second);
  ASSERT_TRUE(measured.ok()) << measured.error().message;
  ASSERT_TRUE(measured->timing.has_value()) << measured->diagnosis.summary;
  ASSERT_EQ(measured->timing->comparisons.size(), 1u);
  EXPECT_EQ(measured->timing->comparisons[0].baseline, "row_mean_kahan.cpp");
  EXPECT_GT(measured->timing->comparisons[0].speedup, 0);
}

TEST(TimingSetCount, IsBetweenFourAndTwentyFour) {
  EXPECT_EQ(timing_set_count(testing::vector_problem(1)), 24);
  EXPECT_EQ(timing_set_count(testing::vector_problem(1'000'000)), 8);
  EXPECT_EQ(timing_set_count(testing::vector_problem(1'000'000'000)), 4);
  EXPECT_EQ(timing_set_count(ProblemDescription{}), 24);
}

}  // namespace
}  // namespace kw
