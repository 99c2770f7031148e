#include "dsl/compiler_errors.h"
#include "dsl/dsl.h"
#include "dsl/problem_header.h"

#include <gtest/gtest.h>

#include "support/small_problems.h"

namespace kw {
namespace {

using testing::problem_of;
using testing::tensor;

TEST(CudaDsl, IncludesTellCuteFromCudaC) {
  EXPECT_EQ((*dsl_of("k.cu", "#include <cstdint>\n"))->name, "cuda-c");
  EXPECT_EQ((*dsl_of("k.cu", "#include <cute/tensor.hpp>\n"))->name, "cute");
  EXPECT_EQ((*dsl_of("k.cu", "// #include <cute/tensor.hpp>\n"))->name, "cuda-c") << "a comment is no include";
  EXPECT_EQ((*dsl_of("k.cu", "", "cute"))->name, "cute");
  EXPECT_EQ((*dsl_of("k.cpp", ""))->name, "cpp");
  EXPECT_FALSE(dsl_of("k.cpp", "", "cute")) << "the extension goes with the DSL";
  EXPECT_FALSE(dsl_of("k.cu", "", "triton"));
}

TEST(CudaDsl, TheHeaderHasAStreamAndScalarDimensions) {
  const auto problem = problem_of({tensor("x", TensorKind::input, {4, 6})}, {}, {tensor("out", TensorKind::output, {4})});
  EXPECT_EQ(kernel_declaration(problem, false, EntryPoint::cuda),
            "extern \"C\" void kw_kernel(const float* x, float* out, cudaStream_t stream)");
  const std::string header = problem_header(problem, EntryPoint::cuda);
  EXPECT_NE(header.find("x_dim1 = 6, x_stride1 = 1;"), std::string::npos) << header;
  EXPECT_NE(header.find("static_cast<float*>(slots[1]), cudaStream_t{})"), std::string::npos) << header;
  EXPECT_EQ(problem_header(problem).find("cuda"), std::string::npos) << "C++ kernels know nothing of it";
}

Diagnosis nvcc(const std::string& output) { return digest_nvcc_errors(output, "mine.cu", "DECLARATION"); }

TEST(CudaDsl, ErrorsOfNvccAreDigested) {
  const auto front = nvcc("kernel.cu(12): error: identifier \"foo\" is undefined\n    foo = 3;\n    ^\n\n1 error detected\n");
  EXPECT_EQ(front.summary, "identifier \"foo\" is undefined");
  EXPECT_EQ(front.place, "mine.cu:12");
  const auto numbered = nvcc("kernel.cu(7): error #20: identifier \"bar\" is undefined\n");
  EXPECT_EQ(numbered.place, "mine.cu:7");
  const auto deep = nvcc(
      "/opt/include/cute/layout.hpp(88): error: static assertion failed with \"rank\"\n"
      "          detected during instantiation of \"auto f(T)\" at line 31 of kernel.cu\n");
  EXPECT_EQ(deep.summary, "static assertion failed with \"rank\"");
  EXPECT_EQ(deep.place, "mine.cu:31");
  const auto limit = nvcc("ptxas error   : Entry function '_Z1kPf' uses too much shared data (0x19000 bytes, 0xc000 max)\n");
  EXPECT_NE(limit.summary.find("too much shared data"), std::string::npos);
  const auto arrays = nvcc("kernel.cu(4): error: identifier \"x_shape\" is undefined in device code\n");
  EXPECT_NE(arrays.hint.find("x_dim0"), std::string::npos);
  const auto entry = nvcc("x.o: in function `kw_call':\nundefined reference to `kw_kernel'\n");
  EXPECT_NE(entry.hint.find("DECLARATION"), std::string::npos);
}

}  // namespace
}  // namespace kw
