#include "dsl/opencl_launch.h"

#include <gtest/gtest.h>

#include "dsl/opencl.h"
#include "support/small_problems.h"

namespace kw {
namespace {

using testing::problem_of;
using testing::tensor;

ProblemDescription row_problem() {
  return problem_of({tensor("x", TensorKind::input, {4, 6})}, {}, {tensor("out", TensorKind::output, {4, 6})});
}

struct BadLine {
  std::string text, says, place;
};

TEST(OpenClLaunchErrors, ALineThatCannotBeMeantIsToldWithItsPlace) {
  const std::vector<BadLine> cases{
      {"__kernel void k() {}\n", "no launch line", "mine.cl"},
      {"// kw:prepare k groups=1 local=1\n", "no launch line", "mine.cl"},
      {"\n// kw:launch k\n", "cannot be read", "mine.cl:2"},
      {"// kw:launch k local=4 global=8\n", "cannot be read", "mine.cl:1"},
      {"// kw:launch k global=10 local=4\n", "no multiple of the local size 4", "mine.cl:1"},
      {"// kw:launch k groups=y_dim0 local=1\n", "nothing is called 'y_dim0'", "mine.cl:1"},
      {"// kw:launch k groups=x_dim0 - 4 local=1\n", "is 0", "mine.cl:1"},
      {"// kw:launch k groups=1 / 0 local=1\n", "division by zero", "mine.cl:1"},
      {"// kw:launch k groups=1, 1, 1, 1 local=1\n", "at most three", "mine.cl:1"},
      {"#define A B\n#define B A\n// kw:launch k groups=A local=1\n", "defined by itself", "mine.cl:3"},
      {"#if x_dim0 > 3\n#define A 1\n#else\n#define A 2\n#endif\n// kw:launch k groups=A local=1\n", "in several ways",
       "mine.cl:6"},
      {"// kw:scratch s float\n", "scratch line cannot be read", "mine.cl:1"},
      {"// kw:scratch s string 4\n", "no type 'string'", "mine.cl:1"},
      {"// kw:scratch s float 4\n// kw:scratch s float 4\n", "two scratch lines", "mine.cl:2"},
      {"// kw:scratch s double 9000000000000\n", "would be", "mine.cl:1"},
  };
  for (const BadLine& each : cases) {
    const auto read = read_launches(row_problem(), {"mine.cl", each.text, {}});
    EXPECT_FALSE(read.value) << each.text;
    EXPECT_NE(read.diagnosis.summary.find(each.says), std::string::npos) << each.text << read.diagnosis.summary;
    EXPECT_EQ(read.diagnosis.place, each.place) << each.text;
    EXPECT_FALSE(read.diagnosis.hint.empty()) << each.text;
  }
}

struct BadPlan {
  std::string line;
  opencl::KernelFacts kernel;
  std::string says;
};

TEST(OpenClLaunchErrors, AParameterThatGetsNothingIsTold) {
  const std::vector<BadPlan> cases{
      {"// kw:launch other groups=1 local=1", {"k", {}, 64, {0, 0, 0}}, "no such kernel"},
      {"// kw:launch k groups=1 local=128", {"k", {}, 64, {0, 0, 0}}, "more than the device has room for (64)"},
      {"// kw:launch k groups=1 local=2", {"k", {}, 64, {4, 1, 1}}, "reqd_work_group_size"},
      {"// kw:launch k(x) groups=1 local=1", {"k", {}, 64, {0, 0, 0}}, "has 0 parameters, its launch line gives 1"},
      {"// kw:launch k groups=1 local=1", {"k", {{"y", "float*", "global"}}, 64, {0, 0, 0}}, "nothing is called so"},
      {"// kw:launch k groups=1 local=1", {"k", {{"x", "double*", "global"}}, 64, {0, 0, 0}}, "is double*, but 'x' holds float"},
      {"// kw:launch k groups=1 local=1", {"k", {{"x", "float", "private"}}, 64, {0, 0, 0}}, "but 'x' holds float"},
      {"// kw:launch k groups=1 local=1", {"k", {{"t", "float*", "local"}}, 64, {0, 0, 0}}, "cannot size"},
      {"// kw:launch k(n) groups=1 local=1", {"k", {{"a", "int", "private"}}, 64, {0, 0, 0}}, "nothing is called 'n'"},
      {"// kw:prepare k groups=1 local=1\n// kw:launch k groups=1 local=1",
       {"k", {{"x", "float*", "global"}}, 64, {0, 0, 0}},
       "no parameter of the module"},
  };
  for (const BadPlan& each : cases) {
    const KernelSource source{"mine.cl", each.line + "\n", {}};
    const auto read = read_launches(row_problem(), source);
    ASSERT_TRUE(read.value) << each.line;
    const auto plan = plan_launches(row_problem(), source, *read.value, {each.kernel});
    EXPECT_FALSE(plan.value) << each.line;
    EXPECT_NE(plan.diagnosis.summary.find(each.says), std::string::npos) << plan.diagnosis.summary;
    EXPECT_EQ(plan.diagnosis.place, "mine.cl:1");
  }
}

TEST(OpenClErrors, WhatDoesNotCompileHasItsLine) {
  if (!opencl_compiler_version()) GTEST_SKIP() << "there is no OpenCL device";
  auto folder = TempFolder::make("kw-opencl-test");
  ASSERT_TRUE(folder);
  const auto compiled = [&](const std::string& text) {
    auto outcome = compile_opencl(row_problem(), {"mine.cl", text, {}}, folder->path(), {});
    EXPECT_TRUE(outcome.ok());
    return outcome.ok() ? *outcome : CompileOutcome{};
  };
  const std::string line = "// kw:launch k groups=1 local=1\n";
  const auto unknown = compiled(line + "__kernel void k(__global float* out) {\n  out[0] = y;\n}\n");
  EXPECT_EQ(unknown.verdict, Verdict::compile_failed);
  EXPECT_EQ(unknown.diagnosis.place, "mine.cl:3") << unknown.diagnosis.summary;
  EXPECT_NE(unknown.diagnosis.summary.find("undeclared identifier 'y'"), std::string::npos) << unknown.diagnosis.summary;
  const auto missing = compiled(line + "__kernel void other(__global float* out) { out[0] = 1; }\n");
  EXPECT_NE(missing.diagnosis.summary.find("no such kernel"), std::string::npos) << missing.diagnosis.summary;
  EXPECT_NE(missing.diagnosis.hint.find("other"), std::string::npos);
  const auto header = compiled(line + "#include <math.h>\n__kernel void k(__global float* out) { out[0] = 1; }\n");
  EXPECT_EQ(header.verdict, Verdict::forbidden);
  EXPECT_EQ(header.diagnosis.place, "mine.cl:2");
}

TEST(OpenClErrors, AMissingDeviceSaysWhatThereIs) {
  if (!opencl_compiler_version()) GTEST_SKIP() << "there is no OpenCL device";
  ::setenv("KERNELWRIGHT_OPENCL_DEVICE", "no such device", 1);
  const auto version = opencl_compiler_version();
  ::unsetenv("KERNELWRIGHT_OPENCL_DEVICE");
  ASSERT_FALSE(version);
  EXPECT_NE(version.error().message.find("no OpenCL device is called 'no such device'"), std::string::npos)
      << version.error().message;
  EXPECT_NE(version.error().hint.find("one of"), std::string::npos) << version.error().hint;
}

}  // namespace
}  // namespace kw
