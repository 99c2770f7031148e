#include "verify/verify.h"

#include <gtest/gtest.h>

#include <set>

#include "support/compiled_kernel.h"
#include "support/temp_home.h"
#include "verify/crash_lines.h"

namespace kw {
namespace {

constexpr std::uint64_t kDraw = 4711;

class VerifyTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    home_ = new testing::TempHome;
    oracle_ = new OracleClient({2, {}, {}});
  }
  static void TearDownTestSuite() {
    delete oracle_;
    delete home_;
  }
  static Verification verified(const std::string& problem, const std::string& kernel, VerifyOptions options = {}) {
    auto source = load_problem(testing::test_file("problems/" + problem), *oracle_);
    EXPECT_TRUE(source.ok()) << (source.ok() ? "" : source.error().message);
    auto candidate = Candidate::read(testing::test_file("honest/" + kernel), {});
    EXPECT_TRUE(candidate.ok()) << (candidate.ok() ? "" : candidate.error().message);
    options.mode = testing::sandbox_mode();
    options.threads = 2;
    options.draw = kDraw;
    auto done = verify(*candidate, source->description, TensorStore(*source, "float32"), *oracle_, options);
    EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().message);
    return done.ok() ? *done : Verification{};
  }

  static inline testing::TempHome* home_ = nullptr;
  static inline OracleClient* oracle_ = nullptr;
};

TEST_F(VerifyTest, HonestKernelsOfEveryTypePass) {
  const std::pair<const char*, const char*> rows[] = {{"half_add.py", "half_add_plain.cpp"},
                                                      {"argmax.py", "argmax_plain.cpp"},
                                                      {"masked_where.py", "masked_where_fork.cpp"},
                                                      {"affine_scalars.py", "affine_scalars_plain.cpp"},
                                                      {"many_parameters.py", "many_parameters_prepared.cpp"}};
  for (const auto& [problem, kernel] : rows) {
    const auto done = verified(problem, kernel);
    EXPECT_EQ(done.record.verdict, Verdict::passed)
        << kernel << ": " << done.record.diagnosis.summary << " " << done.record.diagnosis.place;
  }
}

TEST_F(VerifyTest, AVerdictTellsWhatWasTried) {
  const auto done = verified("scale_relu.py", "scale_relu_plain.cpp");
  const auto& record = done.record;
  ASSERT_EQ(record.verdict, Verdict::passed) << record.diagnosis.summary;
  EXPECT_EQ(done.draw, kDraw);
  EXPECT_EQ(record.precision, "float32");
  EXPECT_EQ(record.sandbox, sandbox::name_of(testing::sandbox_mode()));
  EXPECT_GE(record.checks.size(), verification_kinds().size());
  std::set<int> threads;
  std::set<std::uint64_t> seeds;
  for (const auto& check : record.checks) {
    EXPECT_TRUE(check.passed);
    ASSERT_EQ(check.outputs.size(), 1u);
    EXPECT_EQ(check.outputs[0].output, "out");
    EXPECT_EQ(check.outputs[0].elements, 65539);
    EXPECT_EQ(check.outputs[0].wrong_elements, 0);
    EXPECT_LE(check.outputs[0].worst_of_tolerance, 1);
    threads.insert(check.threads);
    seeds.insert(check.seed);
  }
  EXPECT_EQ(threads, (std::set<int>{1, 2, 3})) << "one thread, all of them, and one more";
  EXPECT_GE(seeds.size(), verification_kinds().size() / 2);

  const auto again = verified("scale_relu.py", "scale_relu_plain.cpp");
  ASSERT_EQ(again.record.checks.size(), record.checks.size());
  for (std::size_t i = 0; i < record.checks.size(); ++i) {
    EXPECT_EQ(again.record.checks[i].seed, record.checks[i].seed);
    EXPECT_EQ(again.record.checks[i].outputs[0].max_error, record.checks[i].outputs[0].max_error);
  }
}

TEST_F(VerifyTest, AShortOneIsOverWithACallThatCannotWin) {
  VerifyOptions options;
  options.brief = true;
  const auto whole = verified("scale_relu.py", "scale_relu_plain.cpp", options);
  EXPECT_GT(whole.record.checks.size(), 1U);
  EXPECT_FALSE(whole.hopeless_call);
  options.hopeless_seconds = 0;
  const auto slow = verified("scale_relu.py", "scale_relu_plain.cpp", options);
  EXPECT_EQ(slow.record.verdict, Verdict::passed) << "it is slow, not wrong";
  EXPECT_EQ(slow.record.checks.size(), 1U);
  EXPECT_GT(slow.hopeless_call.value_or(0), 0);
}

TEST(ReadSanitizer, FindsTheFirstComplaintAndItsLine) {
  const auto overflow = read_sanitizer(
      "=================================================================\n"
      "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000014 at pc 0x7f bp 0x7f sp 0x7f\n"
      "WRITE of size 4 at 0x602000000014 thread T0\n"
      "    #0 0x7f in operator() /usr/include/c++/12/x.h:3\n"
      "    #1 0x7f in kw_kernel kernel.cpp:17\n    #2 0x7f in kw_call ./problem.h:50\n");
  ASSERT_TRUE(overflow.has_value());
  EXPECT_EQ(overflow->what, "heap-buffer-overflow");
  EXPECT_EQ(overflow->line, 17);
  const auto undefined =
      read_sanitizer("kernel.cpp:9:14: runtime error: index 64 out of bounds for type 'float [64]'\n    #0 0x7f in kw_kernel\n");
  ASSERT_TRUE(undefined.has_value());
  EXPECT_EQ(undefined->what, "index 64 out of bounds for type 'float [64]'");
  EXPECT_EQ(undefined->line, 9);
}

TEST(ReadSanitizer, AnUnknownLineIsZeroAndSilenceIsNothing) {
  const auto elsewhere =
      read_sanitizer("==1==ERROR: AddressSanitizer: SEGV on unknown address 0x0 (pc 0x7f)\n    #0 0x7f in strlen\n");
  ASSERT_TRUE(elsewhere.has_value());
  EXPECT_EQ(elsewhere->what, "SEGV");
  EXPECT_EQ(elsewhere->line, 0);
  for (const char* text : {"", "kernel.cpp:12", "ERROR: something else\n"}) EXPECT_FALSE(read_sanitizer(text).has_value()) << text;
}

}  // namespace
}  // namespace kw
