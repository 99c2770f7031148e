#include "dsl/cpp.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/subprocess.h"
#include "dsl/candidate.h"
#include "dsl/elf_symbols.h"
#include "support/compiled_kernel.h"
#include "support/small_problems.h"
#include "support/temp_home.h"

namespace kw {
namespace {

const std::string kHonest = R"(#include "problem.h"
#ifndef KW_FACTOR
#define KW_FACTOR 2
#endif
// A comment about fork(), system("x") and #include </etc/passwd>.
extern "C" void kw_kernel(const float* x, float* out) {
  int fork = KW_FACTOR, socket = 0;
#pragma omp parallel for
  for (int i = 0; i < 64; ++i) out[i] = x[i] * fork + socket;
}
)";

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(CompileCpp, AnHonestKernelBecomesAnObjectThatExportsItsEntry) {
  const auto built = testing::build(testing::vector_problem(64), kHonest);
  ASSERT_TRUE(built.outcome.kernel.has_value()) << built.outcome.diagnosis.summary;
  EXPECT_EQ(built.outcome.verdict, Verdict::passed);
  EXPECT_FALSE(built.outcome.kernel->has_prepare);
  const auto symbols = elf_symbols(built.outcome.kernel->object);
  ASSERT_TRUE(symbols.ok()) << symbols.error().message;
  EXPECT_TRUE(contains(symbols->defined, "kw_call"));
  EXPECT_TRUE(contains(symbols->defined, "kw_kernel"));
  EXPECT_TRUE(contains(symbols->imported, "GOMP_parallel"));
  EXPECT_FALSE(contains(symbols->imported, "kw_kernel"));
}

TEST(CompileCpp, WhatVariablesTakeIsRead) {
  const auto plain = testing::build(testing::vector_problem(64), kHonest);
  const auto more = testing::build(testing::vector_problem(64),
                                   kHonest +
                                       "float kept[4096];\nthread_local float own[1024];\nextern \"C\" float kw_sum() { return "
                                       "kept[3] + own[5]; }\nconst float table[8192] = {1};\n");
  ASSERT_TRUE(more.outcome.kernel.has_value()) << more.outcome.diagnosis.summary;
  const auto before = elf_symbols(plain.outcome.kernel->object), after = elf_symbols(more.outcome.kernel->object);
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_EQ(before->thread_bytes, 0);
  EXPECT_EQ(after->thread_bytes, 4096);
  EXPECT_NEAR(after->variable_bytes - before->variable_bytes, 16384, 256);
}

TEST(CompileCpp, KnobsOverrideTheDefaults) {
  const std::string text = kHonest + "static_assert(KW_FACTOR == 7);\n";
  EXPECT_FALSE(testing::build(testing::vector_problem(64), text).outcome.kernel.has_value());
  const auto built = testing::build(testing::vector_problem(64), text, {}, {{"KW_FACTOR", "7"}});
  EXPECT_TRUE(built.outcome.kernel.has_value()) << built.outcome.diagnosis.summary;
}

TEST(CompileCpp, LinesOfAnObjectAreFound) {
  CompileOptions options;
  options.lines = true;
  const auto built = testing::build(
      testing::vector_problem(64),
      "#include \"problem.h\"\n\nextern \"C\" void kw_kernel(const float* x, float* out) {\n  out[0] = x[0];\n}\n", options);
  ASSERT_TRUE(built.outcome.kernel.has_value()) << built.outcome.diagnosis.summary;
  const auto nm = run_command({{"nm", built.outcome.kernel->object}, {}, "", std::chrono::seconds(20), 1 << 20});
  ASSERT_TRUE(nm.ok());
  const std::size_t at = nm->out.find(" T kw_kernel");
  ASSERT_NE(at, std::string::npos) << nm->out;
  const std::uint64_t offset = std::stoull(nm->out.substr(at - 16, 16), nullptr, 16);
  const std::string line = line_of(built.outcome.kernel->object, offset);
  EXPECT_TRUE(line == "kernel.cpp:3" || line == "kernel.cpp:4") << line;
  EXPECT_EQ(line_of(built.outcome.kernel->object, 0), "");
  EXPECT_EQ(line_of("no/such/object.so", offset), "");
}

TEST(DeclaredKnobs, ComeFromTheirCommentLines) {
  const auto knobs = declared_knobs(
      "// kw:knob KW_TILE_M 32 64 96\nint x;  // kw:knob KW_N 8\n// kw:knob\n// kw:knob 9BAD 1\n// kw:knob KW_EMPTY\n// kw:knob "
      "KW-X 1\n");
  ASSERT_EQ(knobs.size(), 2u);
  EXPECT_EQ(knobs[0].name, "KW_TILE_M");
  EXPECT_EQ(knobs[0].values, (std::vector<std::string>{"32", "64", "96"}));
  EXPECT_EQ(knobs[1].name, "KW_N");
}

TEST(Compiler, SaysItsVersion) {
  const auto version = cpp_compiler_version();
  ASSERT_TRUE(version.ok()) << version.error().message;
  EXPECT_EQ(version->find('\n'), std::string::npos);
  EXPECT_FALSE(version->empty());
}

TEST(CandidateTest, IsCompiledOnceAndKnowsItsFile) {
  const testing::TempHome home;
  auto candidate = Candidate::read(home.write("mine.cpp", kHonest), {});
  ASSERT_TRUE(candidate.ok()) << candidate.error().message;
  EXPECT_EQ(candidate->source().file, "mine.cpp");
  EXPECT_EQ(candidate->dsl().name, "cpp");
  EXPECT_FALSE(candidate->kernel().has_value());
  CompileOptions options;
  options.mode = testing::sandbox_mode();
  const auto first = candidate->compile(testing::vector_problem(64), options);
  ASSERT_TRUE(first.ok() && first->kernel);
  const auto time = fs::last_write_time(first->kernel->object);
  const auto second = candidate->compile(testing::vector_problem(64), options);
  EXPECT_EQ(second->kernel->object, first->kernel->object);
  EXPECT_EQ(fs::last_write_time(first->kernel->object), time);
}

}  // namespace
}  // namespace kw
