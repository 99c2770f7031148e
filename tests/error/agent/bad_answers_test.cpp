// Every way in which a model's answer can be of no use: each has a name, and what can be mended without guessing is mended.
#include <gtest/gtest.h>

#include "agent/answer.h"
#include "agent/cpp_shape.h"
#include "agent/debugger.h"
#include "agent/edits.h"
#include "agent/strategist.h"

namespace kw {
namespace {

const std::string kDeclaration = "extern \"C\" void kw_kernel(const float* x, float* out)";
const std::string kGood =
    "#include \"problem.h\"\nextern \"C\" void kw_kernel(const float* x, float* out) {\n  for (int i = 0; i < 4; ++i) out[i] = "
    "x[i];\n}\n";

std::string fenced(const std::string& code, const std::string& language = "cpp") {
  return "```" + language + "\n" + code + "```\n";
}

std::string fault_of(const std::string& answer, const std::string& finish = "stop") {
  const CodeAnswer found = code_of_answer(answer, finish, kDeclaration);
  EXPECT_EQ(found.fault.has_value(), found.code.empty());
  if (found.fault) {
    EXPECT_FALSE(found.fault->detail.empty());
  }
  return found.fault ? std::string(name_of(found.fault->kind)) : "";
}

std::string mended_of(const std::string& answer, const std::string& finish = "stop") {
  const CodeAnswer found = code_of_answer(answer, finish, kDeclaration);
  EXPECT_FALSE(found.fault) << found.fault->detail;
  EXPECT_EQ(found.code, kGood);
  return found.mended.empty() ? "" : std::string(name_of(found.mended.front()));
}

TEST(BadAnswerTest, StandardHeadersThatAreMissingAreAdded) {
  const auto code_of = [](const std::string& includes, const std::string& value) {
    return includes + "extern \"C\" void kw_kernel(const float* x, float* out) {\n  out[0] = " + value + ";\n}\n";
  };
  const CodeAnswer root =
      code_of_answer(fenced(code_of("#include \"problem.h\"\n", "std::sqrt(std::max(x[0], 0.0f))")), "stop", kDeclaration);
  ASSERT_FALSE(root.fault);
  EXPECT_EQ(root.code,
            code_of("#include \"problem.h\"\n#include <cmath>\n#include <algorithm>\n", "std::sqrt(std::max(x[0], 0.0f))"));
  EXPECT_EQ(root.mended, std::vector<AnswerFault>{AnswerFault::missing_header});
  EXPECT_EQ(code_of_answer(fenced(code_of("", "x[0]")), "stop", kDeclaration).code, code_of("#include \"problem.h\"\n", "x[0]"));
  const std::string complete = code_of("#include <cmath>\n#include \"problem.h\"\n", "std::exp(x[0])  /* std::vector */");
  EXPECT_EQ(code_of_answer(fenced(complete), "stop", kDeclaration).code, complete) << "a comment uses nothing";
}

TEST(BadAnswerTest, AGoodOneIsTakenAsItIs) {
  EXPECT_EQ(mended_of(fenced(kGood)), "");
  EXPECT_EQ(mended_of("Here is the kernel.\n\n" + fenced(kGood) + "It copies x.\n"), "");
  EXPECT_EQ(mended_of(fenced(kGood, "C++")), "");
  EXPECT_EQ(mended_of("<think>a block: " + fenced("int wrong;\n") + "</think>" + fenced(kGood)), "");
}

TEST(BadAnswerTest, CarriageReturnsAndMarksAreNoPartOfIt) {
  std::string windows = "\xef\xbb\xbf";
  for (const char c : fenced(kGood)) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(mended_of(windows), "");
}

TEST(BadAnswerTest, NothingToUseHasAName) {
  EXPECT_EQ(fault_of(""), "empty");
  EXPECT_EQ(fault_of(" \r\n\t\n"), "empty");
  EXPECT_EQ(fault_of("<think>it goes on and on"), "empty");
  EXPECT_EQ(fault_of("", "length"), "cut_off");
  EXPECT_EQ(fault_of("I cannot help with that."), "no_code");
  EXPECT_EQ(fault_of(fenced("")), "no_code");
  EXPECT_EQ(fault_of(fenced(kGood) + std::string(200'000, 'x')), "too_long");
}

TEST(BadAnswerTest, CodeWithoutAFenceIsFound) { EXPECT_EQ(mended_of("Sure, this is it:\n" + kGood + "Have fun\n"), "no_code"); }

TEST(BadAnswerTest, TwoBlocks) {
  EXPECT_EQ(mended_of(fenced("int helper();\n") + "and\n" + fenced(kGood)), "several_blocks");
  EXPECT_EQ(mended_of(fenced(kGood) + "again:\n" + fenced(kGood)), "several_blocks");
  std::string other = kGood;
  other.replace(other.find("x[i];"), 5, "x[0];");
  EXPECT_EQ(fault_of(fenced(kGood) + fenced(other)), "several_blocks");
}

TEST(BadAnswerTest, FencesWithoutAnEnd) {
  EXPECT_EQ(mended_of("```cpp\n" + kGood), "unclosed_fence");
  EXPECT_EQ(fault_of("```cpp\n" + kGood.substr(0, kGood.size() - 10), "length"), "cut_off");
  EXPECT_EQ(fault_of("```cpp\n#include \"problem.h\"\nextern \"C\" void kw_ker", "length"), "cut_off");
  EXPECT_EQ(fault_of(fenced(kGood.substr(0, kGood.size() - 2)), "length"), "cut_off");
}

TEST(BadAnswerTest, ProseInTheCode) {
  std::string code = kGood;
  code.insert(code.find("  for"), "This loop copies all the elements one after another\n");
  EXPECT_EQ(fault_of(fenced(code)), "prose_in_code");
  std::string comment = kGood;
  comment.insert(comment.find("  for"),
                 "  // This loop copies all the elements one after another\n  /* and so on and on\n and on and on */\n");
  EXPECT_EQ(fault_of(fenced(comment)), "");
}

TEST(BadAnswerTest, CodeThatWasLeftOut) {
  std::string code = kGood;
  code.insert(code.find("  for"), "  // ... rest of the code as before\n");
  EXPECT_EQ(fault_of(fenced(code)), "elided");
}

TEST(BadAnswerTest, OtherLanguages) {
  EXPECT_EQ(fault_of(fenced("import torch\n\ndef kw_kernel(x, out):\n    out[:] = x\n", "python")), "wrong_language");
  EXPECT_EQ(fault_of(fenced("__global__ void k(const float* x) {}\n" + kGood)), "wrong_language");
  EXPECT_EQ(fault_of(fenced("#[no_mangle]\npub fn kw_kernel(x: *const f32) {}\n", "rust")), "wrong_language");
}

TEST(BadAnswerTest, OtherSignatures) {
  const auto with = [](const std::string& arguments) {
    return fenced("#include \"problem.h\"\nextern \"C\" void kw_kernel(" + arguments + ") {\n}\n");
  };
  EXPECT_EQ(fault_of(with("const float* x, float* out")), "");
  EXPECT_EQ(fault_of(with("float const *__restrict a, float *__restrict__ b")), "");
  EXPECT_EQ(fault_of(with("const float x[], float* out")), "");
  EXPECT_EQ(fault_of(with("const float* x, float* out, int n")), "wrong_signature");
  EXPECT_EQ(fault_of(with("float* x, float* out")), "wrong_signature");
  EXPECT_EQ(fault_of(with("const double* x, float* out")), "wrong_signature");
  EXPECT_EQ(fault_of(with("const float* x")), "wrong_signature");
  EXPECT_EQ(fault_of(with("const Alias* x, float* out")), "") << "only a compiler knows what it stands for";
  EXPECT_EQ(fault_of(fenced("extern \"C\" void my_kernel(const float* x, float* out) {\n}\n")), "wrong_signature");
  const std::string prepared =
      "extern \"C\" void* kw_prepare() { return nullptr; }\nextern \"C\" void kw_kernel(void* state, const float* x, float* out) "
      "{\n}\n";
  EXPECT_EQ(fault_of(fenced(prepared)), "");
}

TEST(BadAnswerTest, JsonIsFoundAmongWords) {
  const auto fault = [](const std::string& text, const std::string& finish = "stop") {
    const JsonAnswer answer = json_of_answer(text, finish);
    return answer.fault ? std::string(name_of(answer.fault->kind)) : answer.json.dump();
  };
  EXPECT_EQ(fault("Well:\n```json\n{\"a\": [1, 2]}\n```\n"), "{\"a\":[1,2]}");
  EXPECT_EQ(fault("{\"a\": \"} in a text\", // why\n \"b\": 1,}"), "{\"a\":\"} in a text\",\"b\":1}");
  EXPECT_EQ(fault("no object here"), "no_json");
  EXPECT_EQ(fault("{\"a\": }"), "broken_json");
  EXPECT_EQ(fault("{\"a\": [1, 2"), "broken_json");
  EXPECT_EQ(fault("{\"a\": [1, 2", "length"), "cut_off");
  EXPECT_EQ(fault(""), "empty");
  EXPECT_EQ(fault(std::string(200'000, '{')), "too_long");
}

TEST(BadAnswerTest, EditsThatDoNotFit) {
  const auto fault = [](const std::vector<Edit>& edits) {
    const Patched patched = apply_edits(kGood, edits);
    if (patched.fault) {
      EXPECT_EQ(patched.source, kGood) << "as a whole or not at all";
    }
    return patched.fault ? std::string(name_of(patched.fault->kind)) : "";
  };
  EXPECT_EQ(fault({{"i < 4", "i < 5"}}), "");
  EXPECT_EQ(fault({{"i < 7", "i < 5"}}), "absent_edit");
  EXPECT_EQ(fault({{"float*", "double*"}}), "ambiguous_edit");
  EXPECT_EQ(fault({{"  \n", "x"}}), "wrong_record");
  EXPECT_EQ(fault({{"i < 4", "i < 4"}}), "no_change");
  EXPECT_EQ(fault({}), "no_change");
  EXPECT_EQ(fault({{"i < 4", "i < 5"}, {"i < 4", "i < 6"}}), "absent_edit") << "the first one has changed it";
  EXPECT_EQ(fault(std::vector<Edit>(30, {"a", "b"})), "wrong_record");
}

TEST(BadAnswerTest, EditsInBothForms) {
  const auto one = edits_of_answer("Fix:\n<<<<<<< FIND\n  a\n=======\n  b\n>>>>>>> REPLACE\n", "stop");
  ASSERT_FALSE(one.fault);
  ASSERT_EQ(one.edits.size(), 1U);
  EXPECT_EQ(one.edits[0].find, "  a");
  EXPECT_EQ(one.edits[0].replace, "  b");
  const auto json = edits_of_answer(R"({"edits": [{"find": "a", "replace": ""}]})", "stop");
  ASSERT_FALSE(json.fault);
  EXPECT_EQ(json.edits[0].replace, "");
  EXPECT_EQ(name_of(edits_of_answer("<<<<<<< FIND\n a\n=======\n b\n", "length").fault->kind), "cut_off");
  EXPECT_EQ(name_of(edits_of_answer("do this instead", "stop").fault->kind), "no_json");
  const auto wrong = edits_of_answer(R"({"edits": [{"find": "a"}, 3]})", "stop");
  EXPECT_EQ(name_of(wrong.fault->kind), "wrong_record");
  EXPECT_NE(wrong.fault->detail.find("edits[0].replace"), std::string::npos) << wrong.fault->detail;
  EXPECT_NE(wrong.fault->detail.find("edits[1]"), std::string::npos);
}

TEST(BadAnswerTest, PatternsThatCouldTakeForeverAreRefused) {
  for (const char* bad : {"(a+)+b", "(.*)*x", "((ab)*c)+", "(a|b)*\\1", "[", "", ".*", "a?", ".", "a.*b.*c.*d.*e"})
    EXPECT_TRUE(pattern_problem(bad)) << bad;
  EXPECT_TRUE(pattern_problem(std::string(500, 'a')));
  for (const char* good : {"\\bomp parallel\\b", "vfmadd[0-9a-z]* .*zmm", "(prefetch|stream)_ps", "KW_TILE_[MN]"})
    EXPECT_FALSE(pattern_problem(good)) << good;
}

}  // namespace
}  // namespace kw
