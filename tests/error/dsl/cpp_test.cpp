#include "dsl/cpp.h"

#include <gtest/gtest.h>

#include "dsl/candidate.h"
#include "dsl/cpp_screen.h"
#include "dsl/elf_symbols.h"
#include "support/compiled_kernel.h"
#include "support/small_problems.h"
#include "support/temp_home.h"

namespace kw {
namespace {

CompileOutcome outcome_of(const std::string& text) { return testing::build(testing::vector_problem(64), text).outcome; }
std::string kernel(const std::string& before, const std::string& body) {
  return before + "\nextern \"C\" void kw_kernel(const float* x, float* out) {\n" + body + "\n}\n";
}
std::optional<Diagnosis> screened(const std::string& text) { return screen_cpp({"mine.cpp", text, {}}); }

TEST(CompileCppError, SyntaxErrorsHaveTheirLine) {
  const auto outcome = outcome_of(kernel("", "out[0] = x[0]\nreturn;"));
  EXPECT_EQ(outcome.verdict, Verdict::compile_failed);
  EXPECT_FALSE(outcome.kernel.has_value());
  EXPECT_EQ(outcome.diagnosis.stage, "compile");
  EXPECT_EQ(outcome.diagnosis.place.rfind("mine.cpp:", 0), 0u) << outcome.diagnosis.place;
}

TEST(CompileCppError, AWrongOrMissingEntryPointShowsTheRightOne) {
  for (const char* text : {"extern \"C\" void kw_kernel(const double* x, float* out) {}", "int nothing;",
                           "static void kw_kernel(const float*, float*) {}"}) {
    const auto outcome = outcome_of(text);
    EXPECT_EQ(outcome.verdict, Verdict::compile_failed) << text;
    EXPECT_NE(outcome.diagnosis.hint.find("kw_kernel(const float* x, float* out)"), std::string::npos)
        << text << ": " << outcome.diagnosis.summary;
  }
}

TEST(CompileCppError, ForbiddenFunctionsAreFoundByLink) {
  const auto outcome = outcome_of(kernel("#include <cstdlib>", "out[0] = float(std::system(\"true\"));"));
  EXPECT_EQ(outcome.verdict, Verdict::forbidden);
  EXPECT_EQ(outcome.diagnosis.summary, "the kernel calls system");
  // An alias or a declaration of one's own does not help.
  const auto aliased =
      outcome_of(kernel("extern \"C\" int innocent(const char*) __asm__(\"system\");", "out[0] = float(innocent(\"true\"));"));
  EXPECT_EQ(aliased.verdict, Verdict::forbidden);
}

TEST(CompileCppError, AClockOfItsOwnIsForbidden) {
  const auto outcome =
      outcome_of(kernel("#include <ctime>\nextern \"C\" int clock_gettime(clockid_t, timespec*) { return 0; }", "out[0] = x[0];"));
  EXPECT_EQ(outcome.verdict, Verdict::forbidden);
  EXPECT_NE(outcome.diagnosis.summary.find("clock_gettime"), std::string::npos);
}

TEST(CompileCppError, AnIncludeByMacroGetsNoFurther) {
  const auto outcome = outcome_of(kernel("#define FILE_NAME </etc/hostname>\n#include FILE_NAME", "out[0] = x[0];"));
  EXPECT_NE(outcome.verdict, Verdict::passed);
  EXPECT_FALSE(outcome.kernel.has_value());
}

TEST(CompileCppError, ACompilerThatDoesNotEndIsTimedOut) {
  CompileOptions options;
  options.deadline = std::chrono::milliseconds(2500);
  // Two to the thirtieth instantiations.
  const std::string endless =
      "template <int N, long M> struct F { static constexpr long v = F<N - 1, 2 * M>::v + F<N - 1, 2 * M + 1>::v; };\n"
      "template <long M> struct F<0, M> { static constexpr long v = M; };";
  const auto built = testing::build(testing::vector_problem(64), kernel(endless, "out[0] = x[0] + F<30, 1>::v;"), options);
  EXPECT_EQ(built.outcome.verdict, Verdict::timed_out);
  EXPECT_NE(built.outcome.diagnosis.hint.find("--compile-timeout"), std::string::npos);
}

TEST(CompileCppError, AKnobsNameMustBeOne) {
  const TempFolder folder = std::move(TempFolder::make()).value();
  for (const char* name : {"", "9X", "A B", "-O0", "X=1 -fplugin=x"}) {
    const auto outcome = compile_cpp(testing::vector_problem(4), {"mine.cpp", kernel("", ""), {{name, "1"}}}, folder.path(), {});
    ASSERT_FALSE(outcome.ok()) << name;
    EXPECT_NE(outcome.error().hint.find("--knob"), std::string::npos);
  }
}

TEST(CompilerError, AnotherCompilerMustExist) {
  const testing::ScopedVariable compiler("KERNELWRIGHT_CXX", "no-such-compiler");
  const auto found = cpp_compiler();
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().message.find("no-such-compiler"), std::string::npos);
  EXPECT_NE(found.error().hint.find("KERNELWRIGHT_CXX"), std::string::npos);
}

TEST(CppScreen, PathsAndFrameworksAreForbidden) {
  for (const char* include : {"</etc/passwd>", "\"/etc/passwd\"", "\"../secret.h\"", "<a/../../b>", "<torch/extension.h>",
                              "<ATen/ATen.h>", "<cblas.h>", "<mkl.h>", "<oneapi/dnnl/dnnl.hpp>"}) {
    const auto objection = screened(std::string("// a line\n#include ") + include + "\n");
    ASSERT_TRUE(objection.has_value()) << include;
    EXPECT_EQ(objection->stage, "screen");
    EXPECT_EQ(objection->place, "mine.cpp:2");
  }
}

TEST(CppScreen, TheStandardLibraryAndIntrinsicsAreFine) {
  EXPECT_FALSE(screened("#include <vector>\n#include <immintrin.h>\n#include \"problem.h\"\n#include <experimental/simd>\n// "
                        "#include </etc/passwd>\n")
                   .has_value());
  EXPECT_FALSE(screened("const char* help = R\"(\n#include <torch/extension.h>\n)\";\n").has_value());
}

TEST(CppScreen, WhatTheCompilerReadDecides) {
  EXPECT_FALSE(
      screen_dependencies(
          "kernel.so: kernel.cpp problem.h \\\n /usr/include/c++/12/vector \\\n /usr/lib/gcc/x/include/immintrin.h\n", "/build/1")
          .has_value());
  for (const char* more : {" /etc/passwd\n", " \\\n /srv/someone/x.h\n", " /usr/share/x\n", " /build/other/kernel.cpp"})
    EXPECT_TRUE(screen_dependencies("kernel.so: kernel.cpp /usr/include/math.h" + std::string(more), "/build/1").has_value())
        << more;
}

TEST(ElfSymbolsError, WhatIsNoObjectIsRefusedQuietly) {
  const testing::TempHome home;
  for (const std::string& content : {std::string(),
                                     std::string("\x7f"
                                                 "ELF"),
                                     std::string(4096, '\0'),
                                     "\x7f"
                                     "ELF" +
                                         std::string(4096, '\xff')})
    EXPECT_FALSE(elf_symbols(home.write("object.so", content)).ok()) << content.size();
  EXPECT_FALSE(elf_symbols("no/such/object.so").ok());
}

TEST(ElfSymbolsError, AnObjectCutAnywhereIsAnErrorOrLessButNoCrash) {
  const auto built = testing::build(testing::vector_problem(64), kernel("", "out[0] = x[0];"));
  ASSERT_TRUE(built.outcome.kernel.has_value());
  const std::string whole = *read_file(built.outcome.kernel->object);
  const testing::TempHome home;
  for (std::size_t i = 1; i < 24; ++i)
    EXPECT_FALSE(elf_symbols(home.write("cut.so", whole.substr(0, whole.size() * i / 24))).ok()) << i;
  // Damaged headers of sections: whatever they say, nothing outside the file is read.
  std::string damaged = whole;
  for (std::size_t at = 40; at < 64; ++at) {
    damaged = whole;
    damaged[at] = '\x7f';
    (void)elf_symbols(home.write("damaged.so", damaged)).ok();
  }
  for (std::size_t i = 0; i < 64 * 8; ++i) {
    damaged = whole;
    damaged[whole.size() - 1 - i] = '\xff';
    (void)elf_symbols(home.write("damaged.so", damaged)).ok();
  }
}

TEST(ElfSymbolsError, ManySectionsDoNotHideWhatIsCalled) {
  // Past 65279 sections the header's own count of them is 0.
  const auto outcome =
      outcome_of(kernel("#include <cstdlib>\n"
                        "asm(\".altmacro\\n.macro make n\\n.section .s\\\\n,\\\"a\\\"\\n.byte 1\\n.endm\\n.set i,0\\n.rept "
                        "66000\\nmake %i\\n.set i,i+1\\n.endr\\n.text\\n\");",
                        "out[0] = float(std::system(\"true\"));"));
  EXPECT_NE(outcome.verdict, Verdict::passed);
  EXPECT_FALSE(outcome.kernel.has_value());
}

TEST(CandidateError, FilesThatAreNoKernels) {
  const testing::TempHome home;
  const auto missing = Candidate::read("no/such/kernel.cpp", {});
  EXPECT_NE(missing.error().message.find("no/such/kernel.cpp"), std::string::npos);
  const auto unknown = Candidate::read(home.write("kernel.f90", "end"), {});
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("'.f90'"), std::string::npos);
  EXPECT_NE(unknown.error().hint.find(".cpp"), std::string::npos);
  const auto empty = Candidate::read(home.write("kernel.cpp", " \n\t\n"), {});
  ASSERT_FALSE(empty.ok());
  EXPECT_NE(empty.error().message.find("is empty"), std::string::npos);
}

}  // namespace
}  // namespace kw
