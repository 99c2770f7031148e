#include "dsl/cpp_text.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace kw {
namespace {

// "line:name" for each include.
std::string includes(std::string_view text) {
  std::string all;
  for (const auto& include : include_lines(text))
    all += (all.empty() ? "" : " ") + std::to_string(include.line) + ":" + include.name;
  return all;
}
bool has(std::string_view text, std::string_view identifier = "kw_prepare") { return mentions_identifier(text, identifier); }

TEST(CppText, FindsIdentifiersInCodeOnly) {
  EXPECT_TRUE(has("void* kw_prepare(const float* w) {"));
  EXPECT_FALSE(has("// void* kw_prepare(const float* w) {"));
  EXPECT_FALSE(has("/* kw_prepare\n kw_prepare */ int x;"));
  EXPECT_TRUE(has("/* comment */ kw_prepare(); // comment"));
  EXPECT_FALSE(has("const char* s = \"kw_prepare\";"));
  EXPECT_TRUE(has("const char* s = \"x\"; kw_prepare();"));
}

TEST(CppText, IdentifiersAreWholeWords) {
  EXPECT_FALSE(has("my_kw_prepare(); kw_prepared(); kw_prepare2();"));
  EXPECT_TRUE(has("kw_prepare"));
  EXPECT_TRUE(has("::kw_prepare("));
  EXPECT_TRUE(has("kw_prepares; kw_prepare;"));
}

TEST(CppText, ACommentDoesNotOpenInsideAString) {
  EXPECT_TRUE(has("auto a = \"/*\"; kw_prepare(); auto b = \"*/\";"));
  EXPECT_TRUE(has("auto a = \"//\"; kw_prepare();"));
  EXPECT_TRUE(has("auto a = \"\\\"/*\"; kw_prepare();"));
  EXPECT_TRUE(has("auto a = \"\\\\\"; kw_prepare(); auto b = \"\";"));
}

TEST(CppText, AStringDoesNotOpenInsideAComment) {
  EXPECT_TRUE(has("// don't \"open\n kw_prepare();"));
  EXPECT_TRUE(has("/* \" ' */ kw_prepare(); /* ' \" */"));
}

TEST(CppText, RawStringsEndAtTheirOwnDelimiter) {
  EXPECT_FALSE(has("auto s = R\"(kw_prepare \" kw_prepare)\";"));
  EXPECT_TRUE(has("auto s = R\"(a)\"; kw_prepare();"));
  EXPECT_FALSE(has("auto s = R\"x( )\" kw_prepare )x\";"));
  EXPECT_TRUE(has("auto s = R\"x( )\" )x\"; kw_prepare();"));
  EXPECT_TRUE(has("auto s = R\"(/*)\"; kw_prepare(); auto t = R\"(*/)\";"));
  EXPECT_TRUE(has("auto s = R\"(\\)\"; kw_prepare();")) << "a backslash escapes nothing in a raw string";
  for (const char* prefix : {"u8R", "uR", "UR", "LR"})
    EXPECT_FALSE(has(std::string("auto s = ") + prefix + "\"(\" kw_prepare)\";")) << prefix;
}

TEST(CppText, ANameThatEndsInRIsNoRawPrefix) { EXPECT_TRUE(has("#define VAR\nauto s = VAR\"(\"; kw_prepare(); // )\"")); }

TEST(CppText, DigitSeparatorsAreNoCharacters) {
  EXPECT_TRUE(has("int n = 1'000; kw_prepare(); int m = 2'000;"));
  EXPECT_TRUE(has("int n = 0xAB'CD'EF; kw_prepare(); char c = 'x';"));
  EXPECT_TRUE(has("int n = 1'000'000'0; kw_prepare();"));
  EXPECT_TRUE(has("double d = 1.0'5e1'0; kw_prepare();"));
}

TEST(CppText, CharactersMayHoldQuotes) {
  EXPECT_TRUE(has("char c = '\"'; kw_prepare(); char d = '\"';"));
  EXPECT_TRUE(has("char c = '\\''; kw_prepare(); char d = '\\'';"));
  EXPECT_FALSE(has("char c = '\\''; // kw_prepare"));
  EXPECT_FALSE(has("int c = 'kw_prepare';"));
}

TEST(CppText, CharactersMayHaveAPrefixOrFollowAWord) {
  for (const char* before : {"L", "u", "U", "u8", "return"})
    EXPECT_FALSE(has(std::string("auto c = ") + before + "'\"'; /* kw_prepare\n kw_prepare */")) << before;
}

TEST(CppText, SplicedLinesAreOneLine) {
  EXPECT_TRUE(has("kw_pre\\\npare();"));
  EXPECT_FALSE(has("// a comment that goes on \\\n kw_prepare();"));
  EXPECT_TRUE(has("// a comment \\\n that ends here\n kw_prepare();"));
  EXPECT_FALSE(has("/\\\n/ kw_prepare();"));
  EXPECT_FALSE(has("/\\\n* kw_prepare(); *\\\n/"));
  EXPECT_FALSE(has("auto s = \"a\\\nkw_prepare\";"));
}

TEST(CppText, BlanksAfterTheBackslashSpliceAllTheSame) {
  // As GCC has it, with a warning; Windows line ends are such blanks.
  EXPECT_EQ(includes("#incl\\ \t\nude </etc/passwd>\n"), "1:/etc/passwd");
  EXPECT_EQ(includes("#incl\\\r\nude </etc/passwd>\r\n"), "1:/etc/passwd");
}

TEST(CppText, CodeOnlyKeepsLines) {
  const std::string text = "int a; // one\n/* two\nthree */ int b;\nauto s = R\"(\n\n)\"; int c;\n#define X \\\n  int d;\nint e;\n";
  const std::string code = code_only(text);
  EXPECT_EQ(std::count(code.begin(), code.end(), '\n'), std::count(text.begin(), text.end(), '\n'));
  const auto line_of_text = [&](const char* what) {
    return std::count(code.begin(), code.begin() + static_cast<long>(code.find(what)), '\n') + 1;
  };
  EXPECT_EQ(line_of_text("int b"), 3);
  EXPECT_EQ(line_of_text("int c"), 6);
  EXPECT_EQ(line_of_text("int e"), 9);
  EXPECT_EQ(code.find("three"), std::string::npos);
}

TEST(CppText, UnfinishedTextEndsQuietly) {
  for (const char* text :
       {"", "\"", "'", "\"\\", "/*", "/* *", "//", "R\"", "R\"(", "R\"x(", "\\", "/", "#", "#include", "#include <", "%:", "'\\"}) {
    EXPECT_EQ(code_only(text).size(), std::string_view(text).size()) << text;
    include_lines(text);
    EXPECT_FALSE(has(text));
  }
}

TEST(IncludeLines, EveryWayToWriteOne) {
  EXPECT_EQ(includes("#include <vector>\n#include \"problem.h\"\n"), "1:vector 2:problem.h");
  EXPECT_EQ(includes("  #\t include\t<a>"), "1:a");
  EXPECT_EQ(includes("%:include <a>"), "1:a");
  EXPECT_EQ(includes("#include/**/<a>"), "1:a");
  EXPECT_EQ(includes("/* x */ # /* y */ include <a>"), "1:a");
  EXPECT_EQ(includes("#inc\\\nlude \\\n<a>\n#include <b>\n"), "1:a 4:b");
  EXPECT_EQ(includes("#include_next <a>\n#import <b>"), "1:a 2:b");
  EXPECT_EQ(include_lines("#include_next <a>").at(0).directive, "include_next");
  EXPECT_EQ(includes("#include MACRO"), "1:") << "a macro's name is unknown";
}

TEST(IncludeLines, WhatIsNone) {
  EXPECT_EQ(includes("// #include <a>\n/*\n#include <b>\n*/\n"), "");
  EXPECT_EQ(includes("auto s = \"#include <a>\";"), "");
  EXPECT_EQ(includes("auto s = \"\\\n#include <a>\\\n\";"), "");
  EXPECT_EQ(includes("int x; #include <a>"), "");
  EXPECT_EQ(includes("#includes <a>\n#define include <a>\n"), "");
}

TEST(IncludeLines, ALineOfARawStringIsNone) {
  EXPECT_EQ(includes("auto s = R\"(\n#include </etc/passwd>\n)\";\n#include <b>\n"), "4:b");
}

}  // namespace
}  // namespace kw
