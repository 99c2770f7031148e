#include <algorithm>
#include <array>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "agent/answer.h"
#include "agent/cpp_shape.h"
#include "agent/missing_headers.h"

namespace kw {
namespace {

constexpr std::size_t kLongestCode = 100'000;

struct CodeBlock {
  std::string language;  // as the fence says, in small letters
  std::string text;
  bool closed = false;
};

struct FenceLine {
  char mark = 0;  // 0: none
  std::size_t length = 0;
  std::string info;
};

FenceLine fence_of(std::string_view line) {
  FenceLine fence;
  const std::size_t begin = line.find_first_not_of(" \t>");
  if (begin == std::string_view::npos || (line[begin] != '`' && line[begin] != '~')) return fence;
  std::size_t end = begin;
  while (end < line.size() && line[end] == line[begin]) ++end;
  if (end - begin < 3) return fence;
  fence.mark = line[begin];
  fence.length = end - begin;
  fence.info = std::string(line.substr(end));
  while (!fence.info.empty() && (fence.info.back() == ' ' || fence.info.back() == '\t')) fence.info.pop_back();
  fence.info.erase(0, std::min(fence.info.find_first_not_of(" \t"), fence.info.size()));
  return fence;
}

std::vector<CodeBlock> blocks_of(const std::string& text) {
  std::vector<CodeBlock> blocks;
  FenceLine open;
  for (const std::string& line : lines_of(text)) {
    const FenceLine fence = fence_of(line);
    const bool closes = open.mark != 0 && fence.mark == open.mark && fence.length >= open.length && fence.info.empty();
    if (closes) {
      blocks.back().closed = true;
      open = {};
    } else if (fence.mark != 0 && (open.mark == 0 || (fence.mark == open.mark && fence.info.find(' ') == std::string::npos))) {
      // A second opening without an end of the first: a new block all the same.
      CodeBlock block;
      for (const char c : fence.info.substr(0, fence.info.find_first_of(" {:")))
        block.language += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
      blocks.push_back(std::move(block));
      open = fence;
    } else if (open.mark != 0) {
      blocks.back().text += line + "\n";
    }
  }
  return blocks;
}

// Code without a fence: from the first line that only C++ begins with to the last closing brace.
std::optional<CodeBlock> bare_code(const std::string& text) {
  if (!defines_function(text, "kw_kernel")) return std::nullopt;
  static constexpr std::array<std::string_view, 11> kBeginnings{"#include",     "#pragma",   "#ifndef",   "#define",
                                                                "extern \"C\"", "namespace", "using ",    "typedef",
                                                                "static ",      "template",  "constexpr "};
  CodeBlock block;
  block.closed = true;
  bool begun = false;
  for (const std::string& line : lines_of(text)) {
    begun = begun || line.starts_with("//") ||
            std::any_of(kBeginnings.begin(), kBeginnings.end(), [&](std::string_view word) { return line.starts_with(word); });
    if (begun) block.text += line + "\n";
  }
  const std::size_t end = block.text.rfind('}');
  if (end == std::string::npos) return std::nullopt;
  block.text = block.text.substr(0, end + 1) + "\n";
  return block;
}

// The language that the text is in, where it is clearly not the one that was asked for: C++ for the host, or CUDA.
std::string foreign_language(const CodeBlock& block, bool cuda) {
  struct Sign {
    const char* pattern;
    const char* language;
  };
  static constexpr std::array<Sign, 8> kSigns{{{"\\b__global__\\b|<<<|\\bcudaMalloc\\b|#include\\s*[<\"]cuda", "CUDA"},
                                               {"^\\s*(import|from)\\s+\\w+(\\s|\\.|$)", "Python"},
                                               {"^\\s*(async )?def\\s+\\w+\\s*\\(", "Python"},
                                               {"^\\s*@(triton|torch|tilelang)\\b", "Python"},
                                               {"^\\s*(pub )?fn\\s+\\w+\\s*[(<]", "Rust"},
                                               {"^\\s*(subroutine|program)\\s+\\w+", "Fortran"},
                                               {"^\\s*func\\s+\\w+\\s*\\(", "Go"},
                                               {"^\\s*#include\\s*<(torch|ATen)/", "PyTorch's C++"}}};
  const std::string code = code_without_comments(block.text);
  const auto lines = lines_of(code);
  for (const Sign& sign : kSigns) {
    if (cuda && sign.language == std::string_view("CUDA")) continue;
    const std::regex pattern(sign.pattern);
    for (const std::string& line : lines)
      if (line.size() < 1000 && std::regex_search(line, pattern)) return sign.language;
  }
  const bool launches = code.find("__global__") != std::string::npos;
  return cuda && !launches && defines_function(block.text, "kw_kernel") ? "C++ without any __global__ function" : "";
}

// What was asked for, in the words of a fault.
std::string_view asked_language(bool cuda) { return cuda ? "CUDA" : "C++ for this CPU"; }

// A line of words without anything that code has, and with words that only sentences have. Comments and literals are blanked out
// before.
bool is_prose(const std::string& line) {
  static const std::set<std::string> kOfSentences{"the",  "this", "these", "is",   "are", "we", "you",
                                                  "that", "it",   "will",  "here", "of",  "to", "an"};
  if (line.find_first_of(";{}()=<>#[]&|+/\\\"_*") != std::string::npos || line.ends_with(",")) return false;
  int words = 0, of_sentences = 0;
  std::string word;
  for (const char c : line + " ") {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '\'' || static_cast<unsigned char>(c) >= 0x80) {
      word += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    } else if (!word.empty()) {
      ++words;
      of_sentences += kOfSentences.contains(word) ? 1 : 0;
      word.clear();
    }
  }
  return words >= 4 && of_sentences > 0;
}

std::optional<std::string> prose_in(const std::string& code) {
  for (const std::string& line : lines_of(code_without_comments(code)))
    if (is_prose(line.substr(std::min(line.find_first_not_of(" \t"), line.size())))) return line;
  return std::nullopt;
}

// A comment that stands for code that was left out.
std::optional<std::string> elision_in(const std::string& code) {
  static const std::regex kElision(
      "(//|/\\*).*(\\.\\.\\.\\s*(rest|existing|remaining|same|other|unchanged|as before|your)|(rest of|remaining|existing) "
      "(the )?(code|kernel|implementation)( here| goes| unchanged| remains| as before)|(your|implement|add|insert|put) "
      ".{0,40}(code|logic|"
      "implementation|computation) (goes )?here)",
      std::regex::icase);
  for (const std::string& line : lines_of(code))
    if (line.size() < 1000 && std::regex_search(line, kElision)) return line;
  return std::nullopt;
}

// Of several blocks the one with the kernel.
std::optional<CodeBlock> the_kernel(const std::vector<CodeBlock>& blocks, bool cuda, CodeAnswer& answer) {
  std::vector<const CodeBlock*> kernels;
  for (const CodeBlock& block : blocks)
    if (defines_function(block.text, "kw_kernel") && foreign_language(block, cuda).empty()) kernels.push_back(&block);
  if (kernels.empty()) {
    for (const CodeBlock& block : blocks)
      if (const std::string language = foreign_language(block, cuda); !language.empty()) {
        answer.fault = {AnswerFault::wrong_language, fmt::format("the code is {}, not {}", language, asked_language(cuda))};
        return std::nullopt;
      }
    const bool blank = std::all_of(blocks.begin(), blocks.end(), [](const CodeBlock& block) {
      return block.text.find_first_not_of(" \t\n") == std::string::npos;
    });
    if (blank) {
      answer.fault = {AnswerFault::no_code, "the code block is empty"};
    } else if (blocks.back().closed) {
      answer.fault = {AnswerFault::wrong_signature, "the code defines no function kw_kernel"};
    } else {
      answer.fault = {AnswerFault::cut_off, "the code ends before kw_kernel is complete"};
    }
    return std::nullopt;
  }
  const bool same =
      std::all_of(kernels.begin(), kernels.end(), [&](const CodeBlock* block) { return block->text == kernels.front()->text; });
  if (!same) {
    answer.fault = {
        AnswerFault::several_blocks,
        fmt::format("the answer has {} kernels that differ; give one complete kernel in one code block", kernels.size())};
    return std::nullopt;
  }
  if (blocks.size() > 1) answer.mended.push_back(AnswerFault::several_blocks);
  return *kernels.front();
}

}  // namespace

CodeAnswer code_of_answer(std::string_view answer, std::string_view finish, const std::string& declaration, bool cuda) {
  CodeAnswer found;
  const auto refuse = [&](AnswerFault kind, std::string detail) {
    found.fault = Fault{kind, std::move(detail)};
    return found;
  };
  if (answer.size() > kLongestCode)
    return refuse(AnswerFault::too_long,
                  fmt::format("the answer has {} bytes, at most {} are read; give the kernel alone", answer.size(), kLongestCode));
  const std::string text = plain_answer(answer);
  if (text.find_first_not_of(" \t\n") == std::string::npos)
    return refuse(finish == "length" ? AnswerFault::cut_off : AnswerFault::empty,
                  finish == "length" ? "the answer was cut off before any code" : "the answer is empty");
  std::vector<CodeBlock> blocks = blocks_of(text);
  if (blocks.empty()) {
    const auto bare = bare_code(text);
    if (!bare)
      return refuse(finish == "length" ? AnswerFault::cut_off : AnswerFault::no_code,
                    fmt::format("the answer has no code block; give the kernel in one ```{} block", cuda ? "cuda" : "cpp"));
    found.mended.push_back(AnswerFault::no_code);
    blocks.push_back(*bare);
  }
  const auto kernel = the_kernel(blocks, cuda, found);
  if (!kernel) return found;
  if (!kernel->closed || finish == "length") {
    if (!braces_balance(kernel->text)) return refuse(AnswerFault::cut_off, "the code ends in the middle: its braces do not close");
    if (!kernel->closed) found.mended.push_back(AnswerFault::unclosed_fence);
  }
  if (const std::string language = foreign_language(*kernel, cuda); !language.empty())
    return refuse(AnswerFault::wrong_language, fmt::format("the code is {}, not {}", language, asked_language(cuda)));
  if (const auto prose = prose_in(kernel->text))
    return refuse(AnswerFault::prose_in_code, fmt::format("a line of the code is a sentence: \"{}\"", prose->substr(0, 80)));
  if (const auto elided = elision_in(kernel->text))
    return refuse(AnswerFault::elided, fmt::format("a comment stands for code that is missing: \"{}\"", elided->substr(0, 80)));
  if (declaration.starts_with("// kw:launch")) {  // OpenCL C: the launch lines decide, and there are no headers
    if (kernel->text.find("kw:launch") == std::string::npos)
      return refuse(AnswerFault::wrong_signature, "the code has no launch line: // kw:launch kw_kernel groups=... local=...");
    found.code = kernel->text;
    return found;
  }
  if (const auto problem = signature_problem(kernel->text, declaration)) return refuse(AnswerFault::wrong_signature, *problem);
  found.code = with_missing_headers(kernel->text);
  if (found.code != kernel->text) found.mended.push_back(AnswerFault::missing_header);
  return found;
}

}  // namespace kw
