#include "dsl/compiler_errors.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

const std::string kDeclaration = "extern \"C\" void kw_kernel(const float* x, float* out)";

Diagnosis digest(const std::string& output) { return digest_compiler_errors(output, "mine.cpp", kDeclaration); }

TEST(CompilerErrors, TheFirstErrorWithItsLine) {
  const auto d = digest(
      "kernel.cpp: In function 'void kw_kernel(const float*, float*)':\n"
      "kernel.cpp:12:5: error: 'foo' was not declared in this scope\n"
      "kernel.cpp:14:7: error: expected ';' before 'bar'\n"
      "kernel.cpp:15:7: error: three\nkernel.cpp:16:7: error: four\n");
  EXPECT_EQ(d.stage, "compile");
  EXPECT_EQ(d.summary, "'foo' was not declared in this scope");
  EXPECT_EQ(d.place, "mine.cpp:12");
  EXPECT_EQ(d.evidence.size(), 2u) << "digested, not a log";
  EXPECT_NE(d.evidence.at(0).find("expected ';'"), std::string::npos);
}

TEST(CompilerErrors, AnErrorInAHeaderIsPlacedAtTheKernelsLine) {
  const auto d = digest(
      "In file included from /usr/include/c++/12/vector:64,\n"
      "                 from kernel.cpp:3:\n"
      "/usr/include/c++/12/bits/stl_vector.h: In instantiation of 'class std::vector<void>':\n"
      "kernel.cpp:21:20:   required from here\n"
      "/usr/include/c++/12/bits/stl_vector.h:400:11: error: forming pointer to reference type\n");
  EXPECT_EQ(d.place, "mine.cpp:21");
  EXPECT_EQ(d.summary, "forming pointer to reference type");
}

TEST(CompilerErrors, AMissingHeaderSaysWhatMayBeIncluded) {
  const auto d = digest("kernel.cpp:2:10: fatal error: mylib.h: No such file or directory\ncompilation terminated.\n");
  EXPECT_EQ(d.place, "mine.cpp:2");
  EXPECT_NE(d.hint.find("one file"), std::string::npos);
}

TEST(CompilerErrors, AnUndefinedFunctionIsNamed) {
  const auto d = digest(
      "/usr/bin/ld: cc1.o: in function `kw_kernel':\nkernel.cpp:(.text+0x1): undefined reference to `cblas_sgemm'\ncollect2: "
      "error: ld returned 1 exit status\n");
  EXPECT_NE(d.summary.find("'cblas_sgemm'"), std::string::npos);
  EXPECT_FALSE(d.hint.empty());
}

TEST(CompilerErrors, AMissingEntryPointShowsItsDeclaration) {
  const auto d = digest(
      "/usr/bin/ld: cc1.o: in function `kw_call':\nkernel.cpp:(.text+0x5): undefined reference to `kw_kernel'\ncollect2: "
      "error: ld returned 1 exit status\n");
  EXPECT_NE(d.hint.find(kDeclaration), std::string::npos);
}

TEST(CompilerErrors, AConflictingEntryPointIsPlacedInTheKernel) {
  const auto d = digest(
      "kernel.cpp:4:17: error: conflicting declaration of C function 'void kw_kernel(const double*, float*)'\n"
      "./problem.h:40:27: note: previous declaration 'void kw_kernel(const float*, float*)'\n");
  EXPECT_EQ(d.place, "mine.cpp:4");
  EXPECT_NE(d.hint.find(kDeclaration), std::string::npos);
}

TEST(CompilerErrors, AnAssemblersErrorCounts) {
  const auto d = digest("kernel.cpp: Assembler messages:\nkernel.cpp:7: Error: no such instruction: `frobnicate %eax'\n");
  EXPECT_EQ(d.place, "mine.cpp:7");
  EXPECT_NE(d.summary.find("frobnicate"), std::string::npos);
}

TEST(CompilerErrors, EndlessLinesStayShort) {
  const auto d = digest("kernel.cpp:1:1: error: " + std::string(1'000'000, 'x') +
                        "\nkernel.cpp:2:1: error: " + std::string(100'000, 'y') + "\n");
  EXPECT_LT(d.summary.size(), 400u);
  for (const auto& line : d.evidence) EXPECT_LT(line.size(), 300u);
}

TEST(CompilerErrors, SilenceAndNonsenseStillGiveADiagnosis) {
  for (const std::string output : {"", "\n\n\n", "Killed\n", "g++: fatal: something\n"}) {
    const auto d = digest(output);
    EXPECT_EQ(d.stage, "compile");
    EXPECT_FALSE(d.summary.empty());
  }
  EXPECT_FALSE(digest("g++: internal compiler error: Segmentation fault\n").evidence.empty());
}

}  // namespace
}  // namespace kw
