#include "dsl/dsl.h"
#include "dsl/opencl_header.h"
#include "dsl/opencl_launch.h"
#include "record/dsl_place.h"

#include <gtest/gtest.h>

#include "support/small_problems.h"

namespace kw {
namespace {

using testing::problem_of;
using testing::tensor;

ProblemDescription small() {
  return problem_of({tensor("x", TensorKind::input, {4, 6})}, {tensor("weight", TensorKind::parameter, {6})},
                    {tensor("out", TensorKind::output, {4})});
}

OpenClLaunches read(const std::string& text, std::map<std::string, std::string> knobs = {}) {
  const auto made = read_launches(small(), {"mine.cl", text, std::move(knobs)});
  EXPECT_TRUE(made.value) << made.diagnosis.summary;
  return made.value.value_or(OpenClLaunches{});
}

opencl::ParameterFacts parameter(const std::string& name, const std::string& type, const std::string& memory = "global") {
  return {name, type, memory};
}

TEST(OpenClDsl, TheTableAndTheRecordsAgreeOnWhereADslRuns) {
  for (const std::string& name : dsl_names()) EXPECT_EQ((*dsl_named(name))->on_gpu(), is_for_gpu(name)) << name;
  EXPECT_EQ((*dsl_of("k.cl", ""))->name, "opencl");
  EXPECT_EQ(target_of("opencl"), "opencl");
}

TEST(OpenClDsl, TheHeaderHasShapesThatThePreprocessorSees) {
  const std::string header = opencl_header(small());
  EXPECT_NE(header.find("#define x_dim1 6\n"), std::string::npos) << header;
  EXPECT_NE(header.find("#define out_numel 4\n"), std::string::npos) << header;
  EXPECT_NE(header.find("__global const float* weight"), std::string::npos) << header;
}

TEST(OpenClDsl, SizesAreReckonedAsInC) {
  const auto launches = read(
      "#ifndef KW_LOCAL\n#define KW_LOCAL 4\n#endif\n#define PIECES ((x_numel + 6) / 7)  // of seven\n"
      "// kw:launch one groups=(PIECES + KW_LOCAL - 1) / KW_LOCAL local=KW_LOCAL\n"
      "  // kw:launch two(x, out) global=x_dim1, x_dim0 local=3, 2\n");
  ASSERT_EQ(launches.launches.size(), 2u);
  EXPECT_EQ(launches.launches[0].global[0], 4u) << "(24 + 6) / 7 = 4 pieces, one group of four";
  EXPECT_EQ(launches.launches[1].global, (std::array<std::uint64_t, 3>{6, 4, 1}));
  EXPECT_EQ(launches.launches[1].local, (std::array<std::uint64_t, 3>{3, 2, 1}));
  EXPECT_EQ(launches.launches[1].arguments->size(), 2u);
  EXPECT_EQ(read("#define KW_LOCAL 4\n// kw:launch k groups=1 local=KW_LOCAL\n", {{"KW_LOCAL", "8"}}).launches[0].global[0], 8u)
      << "a knob that was given counts";
}

TEST(OpenClDsl, NumbersOf16BitsAreNoVectors) {
  auto half = tensor("x", TensorKind::input, {4});
  half.dtype = DType::f16;
  const auto problem = problem_of({half}, {}, {tensor("out", TensorKind::output, {4})});
  const KernelSource source{"mine.cl", "// kw:launch k groups=1 local=1\n", {}};
  const auto launches = read_launches(problem, source);
  ASSERT_TRUE(launches.value);
  const auto plan = plan_launches(problem, source, *launches.value, {{"k", {parameter("x", "kw_f16*")}, 64, {0, 0, 0}}});
  EXPECT_TRUE(plan.value) << plan.diagnosis.summary;
}

TEST(OpenClDsl, ParametersGoByNameOrByList) {
  const KernelSource source{"mine.cl",
                            "// kw:scratch sums double x_dim0 * 2\n"
                            "// kw:prepare pack groups=1 local=1\n"
                            "// kw:launch rows(x, sums, x_dim1 * 2) groups=x_dim0 local=1\n"
                            "// kw:launch end groups=1 local=1\n",
                            {}};
  const auto launches = read_launches(small(), source);
  ASSERT_TRUE(launches.value) << launches.diagnosis.summary;
  const std::vector<opencl::KernelFacts> kernels{
      {"pack", {parameter("weight", "float*"), parameter("sums", "double*")}, 64, {0, 0, 0}},
      {"rows", {parameter("a", "float4*"), parameter("b", "double*"), parameter("c", "int", "private")}, 64, {0, 0, 0}},
      {"end", {parameter("sums", "double*"), parameter("out", "float*")}, 64, {0, 0, 0}}};
  const auto plan = plan_launches(small(), source, *launches.value, kernels);
  ASSERT_TRUE(plan.value) << plan.diagnosis.summary;
  EXPECT_EQ(plan.value->scratch_bytes, (std::vector<std::uint64_t>{64}));
  ASSERT_EQ(plan.value->launches.size(), 3u);
  EXPECT_TRUE(plan.value->launches[0].prepare);
  EXPECT_EQ(plan.value->launches[1].parameters[0].gives, opencl::Gives::tensor);
  EXPECT_EQ(plan.value->launches[1].parameters[1].gives, opencl::Gives::scratch);
  EXPECT_EQ(plan.value->launches[1].parameters[2].number, 12);
  EXPECT_EQ(plan.value->launches[1].parameters[2].bytes, 4);
  EXPECT_EQ(plan.value->launches[2].parameters[1].index, 2) << "out is the problem's third argument";
}

}  // namespace
}  // namespace kw
