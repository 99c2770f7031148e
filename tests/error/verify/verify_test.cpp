#include "verify/verify.h"

#include <gtest/gtest.h>

#include "support/compiled_kernel.h"
#include "support/temp_home.h"

namespace kw {
namespace {

// Kernels for tests/problems/scale_relu.py: out = 2.5 relu(x), 65539 elements.
std::string kernel(const std::string& body) {
  return "#include \"problem.h\"\n#include <cstdlib>\nextern \"C\" void kw_kernel(const float* x, float* out) {\n"
         "  for (int i = 0; i < 65539; ++i) out[i] = x[i] > 0 ? x[i] * 2.5f : 0.0f;\n" +
         body + "\n}\n";
}

class VerifyErrorTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    home_ = new testing::TempHome;
    oracle_ = new OracleClient({2, {}, {}});
  }
  static void TearDownTestSuite() {
    delete oracle_;
    delete home_;
  }
  static VerdictRecord judged(const std::string& text, double timeout = 20) {
    auto source = load_problem(testing::test_file("problems/scale_relu.py"), *oracle_);
    EXPECT_TRUE(source.ok()) << (source.ok() ? "" : source.error().message);
    auto candidate = Candidate::read(home_->write("mine.cpp", text), {});
    EXPECT_TRUE(candidate.ok());
    VerifyOptions options;
    options.mode = testing::sandbox_mode();
    options.threads = 2;
    options.draw = 4711;
    options.call_timeout = timeout;
    auto done = verify(*candidate, source->description, TensorStore(*source, "float32"), *oracle_, options);
    EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().message);
    if (!done.ok()) return {};
    EXPECT_FALSE(done->record.diagnosis.summary.empty());
    EXPECT_TRUE(done->record.verdict == Verdict::compile_failed || !done->record.diagnosis.hint.empty())
        << done->record.diagnosis.summary;
    return done->record;
  }
  static bool evidence_says(const VerdictRecord& record, std::string_view part) {
    for (const auto& line : record.diagnosis.evidence)
      if (line.find(part) != std::string::npos) return true;
    return false;
  }

  static inline testing::TempHome* home_ = nullptr;
  static inline OracleClient* oracle_ = nullptr;
};

TEST_F(VerifyErrorTest, WrongValuesAreWrongWithTheirCircumstances) {
  const auto record = judged(kernel("  out[65538] += 1;"));
  EXPECT_EQ(record.verdict, Verdict::wrong);
  EXPECT_EQ(record.diagnosis.stage, "compare");
  EXPECT_NE(record.diagnosis.place.find("65538"), std::string::npos) << record.diagnosis.place;
  EXPECT_TRUE(evidence_says(record, "inputs: given"));
  ASSERT_FALSE(record.checks.empty());
  EXPECT_FALSE(record.checks.back().passed);
  EXPECT_EQ(record.checks.back().outputs.at(0).wrong_elements, 1);
}

TEST_F(VerifyErrorTest, RightOnTheProblemsOwnInputsOnlyIsWrong) {
  const auto record = judged(kernel("  static int calls = 0;\n  if (++calls > 200) out[3] = -1;"));
  EXPECT_EQ(record.verdict, Verdict::wrong);
  EXPECT_TRUE(evidence_says(record, "after many calls") || evidence_says(record, "earlier checks passed"));
}

TEST_F(VerifyErrorTest, ACrashHasItsLine) {
  const auto record = judged(kernel("\n  reinterpret_cast<volatile float*>(out)[100000] = 1;"));
  EXPECT_EQ(record.verdict, Verdict::crashed);
  EXPECT_EQ(record.diagnosis.place.rfind("mine.cpp:6, output 'out'", 0), 0u) << record.diagnosis.place;
}

TEST_F(VerifyErrorTest, ACorruptedHeapIsFoundByTheSanitizer) {
  const auto record =
      judged(kernel("  auto* own = static_cast<volatile float*>(std::malloc(64));\n  for (int i = 0; i < 64; ++i) own[i] = 1e30f;\n"
                    "  std::free(const_cast<float*>(own)); std::free(std::malloc(64)); std::free(std::malloc(5000));"));
  EXPECT_EQ(record.verdict, Verdict::crashed) << record.diagnosis.summary;
  EXPECT_NE(record.diagnosis.place.find("mine.cpp:6"), std::string::npos) << record.diagnosis.place;
}

TEST_F(VerifyErrorTest, MemoryBesideAnOutputIsNotTheKernels) {
  const auto record = judged(kernel("  reinterpret_cast<volatile float*>(out)[65539] = 1;"));
  EXPECT_EQ(record.verdict, Verdict::crashed);
  EXPECT_NE(record.diagnosis.summary.find("outside of the output 'out'"), std::string::npos) << record.diagnosis.summary;
}

TEST_F(VerifyErrorTest, AnEndlessKernelIsTimedOut) {
  EXPECT_EQ(judged(kernel("  for (volatile int i = 0;; i = 1) {}"), 0.5).verdict, Verdict::timed_out);
}

TEST_F(VerifyErrorTest, AnUnwrittenElementIsWrong) {
  const auto record = judged(
      "#include \"problem.h\"\nextern \"C\" void kw_kernel(const float* x, float* out) {\n  for (int i = 0; i < 65536; ++i) out[i] "
      "= x[i] > 0 ? x[i] * 2.5f : 0;\n}\n");
  EXPECT_EQ(record.verdict, Verdict::wrong);
  EXPECT_EQ(record.checks.at(0).outputs.at(0).wrong_elements, 3);
}

TEST_F(VerifyErrorTest, ALoweredPrecisionIsImprecise) {
  const auto record = judged(kernel("  for (int i = 0; i < 65539; ++i) out[i] = kw_to_float(kw_bf16_from_float(out[i]));"));
  EXPECT_TRUE(record.verdict == Verdict::imprecise || record.verdict == Verdict::wrong) << name_of(record.verdict);
  EXPECT_GT(record.checks.back().outputs.at(0).worst_of_tolerance, 1);
}

TEST_F(VerifyErrorTest, AFloatingPointModeLeftChangedIsForbidden) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "MXCSR is x86's";
#endif
  EXPECT_EQ(judged(kernel("  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8000);")).verdict, Verdict::forbidden);
}

TEST_F(VerifyErrorTest, WhatDoesNotCompileIsNeverRun) {
  const auto record = judged("extern \"C\" void kw_kernel(const float* x, float* out) { nonsense }\n");
  EXPECT_EQ(record.verdict, Verdict::compile_failed);
  EXPECT_TRUE(record.checks.empty());
}

TEST_F(VerifyErrorTest, TooMuchPrintingIsForbidden) {
  const auto record = judged("#include <cstdio>\n" + kernel("  for (int i = 0; i < 20000; ++i) std::puts(\"again and again\");"));
  EXPECT_EQ(record.verdict, Verdict::forbidden) << record.diagnosis.summary;
}

}  // namespace
}  // namespace kw
