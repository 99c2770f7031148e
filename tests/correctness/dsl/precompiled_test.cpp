#include "dsl/precompiled.h"

#include <gtest/gtest.h>

#include "dsl/cpp.h"
#include "support/compiled_kernel.h"
#include "support/small_problems.h"
#include "support/temp_home.h"

namespace kw {
namespace {

const std::string kIncludes = "#include <cmath>\n#include <immintrin.h>\n";
const std::string kBody = R"(extern "C" void kw_kernel(const float* x, float* out) {
  for (int i = 0; i < 64; i += 4) _mm_storeu_ps(out + i, _mm_sqrt_ps(_mm_loadu_ps(x + i)));
  out[0] = std::sqrt(x[0]);
}
)";

std::string object_of(const testing::BuiltKernel& built) {
  EXPECT_TRUE(built.outcome.kernel.has_value()) << built.outcome.diagnosis.summary;
  const auto object = built.outcome.kernel ? read_file(built.outcome.kernel->object) : Result<std::string>(std::string());
  return object.ok() ? *object : "";
}

std::size_t kept(const testing::TempHome& home) { return entries_of(home.cache() / "headers").size(); }

TEST(Precompiled, TheObjectIsTheSameAsWithoutAndTheHeadersAreCompiledOnce) {
  std::string with, again, without;
  {
    const testing::TempHome home(testing::CacheIs::own);
    with = object_of(testing::build(testing::vector_problem(64), kIncludes + kBody));
    EXPECT_EQ(kept(home), 1U);
    again = object_of(testing::build(testing::vector_problem(64), kIncludes + kBody));
    EXPECT_EQ(kept(home), 1U);
  }
  {
    const testing::TempHome home(testing::CacheIs::own);
    const testing::ScopedVariable nowhere("KERNELWRIGHT_CACHE", home.write("a_file", "").string());
    without = object_of(testing::build(testing::vector_problem(64), kIncludes + kBody));
  }
  ASSERT_FALSE(with.empty());
  EXPECT_EQ(with, again);
  EXPECT_EQ(with, without);
}

TEST(Precompiled, NoKernelGetsAHeaderThatItDoesNotInclude) {
  const testing::TempHome home(testing::CacheIs::own);
  const auto built = testing::build(testing::vector_problem(64), "#include <cmath>\n" + kBody);
  EXPECT_EQ(built.outcome.verdict, Verdict::compile_failed);
  EXPECT_EQ(kept(home), 0U);
}

TEST(Precompiled, AMistakeIsSaidAtItsPlace) {
  const testing::TempHome home(testing::CacheIs::own);
  const auto built = testing::build(testing::vector_problem(64), kIncludes + "int broken = nothing_like_it;\n" + kBody);
  EXPECT_EQ(built.outcome.verdict, Verdict::compile_failed);
  EXPECT_EQ(built.outcome.diagnosis.place, "mine.cpp:3");
}

TEST(Precompiled, CodeForADiagnosisIsCompiledAsItIs) {
  const testing::TempHome home(testing::CacheIs::own);
  CompileOptions options;
  options.lines = true;
  EXPECT_TRUE(testing::build(testing::vector_problem(64), kIncludes + kBody, options).outcome.kernel.has_value());
  EXPECT_EQ(kept(home), 0U);
}

}  // namespace
}  // namespace kw
