#include "dsl/problem_header.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/subprocess.h"
#include "support/small_problems.h"

namespace kw {
namespace {

using testing::problem_of;
using testing::scalar;
using testing::tensor;

// Compiles the header with a kernel's text as the evaluator does; what the compiler says, empty when all is well.
std::string compile(const ProblemDescription& problem, const std::string& kernel, bool prepare = false) {
  const TempFolder folder = std::move(TempFolder::make("kw-header")).value();
  EXPECT_TRUE(write_file_atomically(folder.path() / "problem.h", problem_header(problem)).ok());
  EXPECT_TRUE(write_file_atomically(folder.path() / "kernel.cpp", "#include \"problem.h\"\n" + kernel).ok());
  Command command;
  command.argv = {"g++",           "-std=c++20",        "-Wall",     "-Wextra", "-Werror", "-Wno-unused-parameter",
                  "-fsyntax-only", "-DKW_RUNNER_ENTRY", "kernel.cpp"};
  if (prepare) command.argv.push_back("-DKW_HAS_PREPARE");
  command.folder = folder.path().string();
  const auto outcome = run_command(command);
  EXPECT_TRUE(outcome.ok());
  return outcome->succeeded() ? "" : outcome->err;
}

TEST(ProblemHeader, PlainArgumentsInTheContractsOrder) {
  const auto problem =
      problem_of({tensor("x", TensorKind::input, {4, 6})}, {tensor("linear.weight", TensorKind::parameter, {6, 6})},
                 {tensor("out", TensorKind::output, {4, 6})});
  EXPECT_EQ(kernel_declaration(problem, false),
            "extern \"C\" void kw_kernel(const float* x, const float* linear_weight, float* out)");
  EXPECT_EQ(compile(problem, R"(
extern "C" void kw_kernel(const float* x, const float* linear_weight, float* out) { *out = *x * *linear_weight; }
static_assert(x_shape[0] == 4 && x_shape[1] == 6 && x_strides[0] == 6 && x_strides[1] == 1 && x_numel == 24);
static_assert(linear_weight_numel == 36 && out_shape[1] == 6);
)"),
            "");
}

TEST(ProblemHeader, AWrongSignatureDoesNotCompile) {
  const auto problem = testing::vector_problem(8);
  EXPECT_NE(compile(problem, "extern \"C\" void kw_kernel(const double* x, float* out) {}"), "");
  EXPECT_NE(compile(problem, "extern \"C\" int kw_kernel(const float* x, float* out) { return 0; }"), "");
  EXPECT_NE(compile(problem, "extern \"C\" void kw_kernel(float* out) {}"), "");
  EXPECT_EQ(compile(problem, "extern \"C\" void kw_kernel(const float* in, float* result) {}"), "") << "names are the kernel's own";
}

TEST(ProblemHeader, EveryTypeHasItsName) {
  const auto problem =
      problem_of({tensor("h", TensorKind::input, {3}, DType::f16), tensor("b", TensorKind::input, {3}, DType::bf16),
                  tensor("d", TensorKind::input, {3}, DType::f64), tensor("m", TensorKind::input, {3}, DType::boolean),
                  tensor("i1", TensorKind::input, {3}, DType::i8), tensor("i2", TensorKind::input, {3}, DType::i16),
                  tensor("i4", TensorKind::input, {3}, DType::i32), tensor("u1", TensorKind::input, {3}, DType::u8),
                  scalar("s", DType::f64, 0.5), scalar("n", DType::i64, 2), scalar("flag", DType::boolean, 1)},
                 {}, {tensor("out", TensorKind::output, {3}, DType::i64)});
  EXPECT_EQ(compile(problem, R"(
extern "C" void kw_kernel(const kw_f16* h, const kw_bf16* b, const double* d, const bool* m, const std::int8_t* i1, const std::int16_t* i2,
                          const std::int32_t* i4, const std::uint8_t* u1, double s, std::int64_t n, bool flag, std::int64_t* out) {
  float f = kw_to_float(h[0]) + kw_to_float(b[0]);
  kw_f16 half = kw_f16_from_float(f);
  kw_bf16 brain = kw_bf16_from_float(f);
  out[0] = flag && m[0] ? n + i1[0] + i2[0] + i4[0] + u1[0] : std::int64_t(d[0] * s + kw_to_float(half) + kw_to_float(brain));
}
static_assert(sizeof(kw_f16) == 2 && sizeof(kw_bf16) == 2 && sizeof(bool) == 1);
)"),
            "");
}

TEST(ProblemHeader, TensorsWithoutDimensionsAndWithoutElements) {
  const auto problem = problem_of({tensor("loss", TensorKind::input, {}), tensor("none", TensorKind::input, {0, 3})}, {},
                                  {tensor("out", TensorKind::output, {})});
  EXPECT_EQ(compile(problem, R"(
extern "C" void kw_kernel(const float* loss, const float*, float* out) { *out = *loss; }
static_assert(loss_numel == 1 && out_numel == 1 && none_numel == 0 && none_shape[0] == 0);
)"),
            "");
}

TEST(ProblemHeader, PrepareSeesTheParametersAndTheKernelItsState) {
  const auto problem = problem_of({tensor("x", TensorKind::input, {4})},
                                  {tensor("w", TensorKind::parameter, {4}), tensor("b", TensorKind::buffer, {4}, DType::i64)},
                                  {tensor("out", TensorKind::output, {4})});
  EXPECT_EQ(kernel_declaration(problem, true).find("extern \"C\" void kw_kernel(void* state, const float* x"), 0u);
  const std::string kernel = R"(
extern "C" void* kw_prepare(const float* w, const std::int64_t* b) { return new float(w[0] + float(b[0])); }
extern "C" void kw_release(void* state) { delete static_cast<float*>(state); }
extern "C" void kw_kernel(void* state, const float* x, const float*, const std::int64_t*, float* out) { *out = *x * *static_cast<float*>(state); }
)";
  EXPECT_EQ(compile(problem, kernel, true), "");
  EXPECT_NE(compile(problem, kernel, false), "") << "without KW_HAS_PREPARE the kernel takes no state";
}

TEST(ProblemHeader, AProblemWithoutParametersMayPrepareAllTheSame) {
  EXPECT_EQ(compile(testing::vector_problem(8), R"(
extern "C" void* kw_prepare() { return nullptr; }
extern "C" void kw_release(void*) {}
extern "C" void kw_kernel(void*, const float* x, float* out) { *out = *x; }
)",
                    true),
            "");
}

// x, s, `parameters` weights, out.
ProblemDescription wide(int parameters) {
  auto problem =
      problem_of({tensor("x", TensorKind::input, {2}), scalar("s", DType::i64, 1)}, {}, {tensor("out", TensorKind::output, {2})});
  for (int i = 0; i < parameters; ++i) problem.parameters.push_back(tensor("w" + std::to_string(i), TensorKind::parameter, {2}));
  return problem;
}

TEST(ProblemHeader, SixteenArgumentsArePlainSeventeenAreAStruct) {
  EXPECT_FALSE(passes_struct(wide(13)));
  EXPECT_TRUE(passes_struct(wide(14)));
  EXPECT_EQ(kernel_declaration(wide(14), false), "extern \"C\" void kw_kernel(const kw_args* args)");
  EXPECT_EQ(
      compile(wide(14),
              R"(extern "C" void kw_kernel(const kw_args* args) { args->out[0] = args->x[0] * args->w13[1] + float(args->s); })"),
      "");
}

TEST(ProblemHeader, PrepareTakesAStructToo) {
  EXPECT_EQ(compile(wide(40), R"(
extern "C" void* kw_prepare(const kw_weights* weights) { return new float(weights->w39[0]); }
extern "C" void kw_release(void* state) { delete static_cast<float*>(state); }
extern "C" void kw_kernel(void* state, const kw_args* args) { args->out[1] = *static_cast<float*>(state); }
)",
                    true),
            "");
}

TEST(ProblemHeader, AStructWithoutWeightsMayPrepare) {
  ProblemDescription problem = testing::vector_problem(4);
  for (int i = 0; i < 17; ++i) problem.inputs.push_back(tensor("y" + std::to_string(i), TensorKind::input, {4}));
  EXPECT_EQ(compile(problem, R"(
extern "C" void* kw_prepare(const kw_weights*) { return nullptr; }
extern "C" void kw_release(void*) {}
extern "C" void kw_kernel(void*, const kw_args* args) { args->out[0] = args->y16[0]; }
)",
                    true),
            "");
}

TEST(ProblemHeader, TellsStrides) {
  auto problem = testing::vector_problem(6);
  problem.inputs[0].shape = {2, 3};
  problem.inputs[0].strides = {1, 2};
  EXPECT_EQ(compile(problem, "static_assert(x_strides[0] == 1 && x_strides[1] == 2);"), "");
  EXPECT_NE(problem_header(problem).find("not contiguous"), std::string::npos);
}

}  // namespace
}  // namespace kw
