#include "agent/cpp_shape.h"

#include <algorithm>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "agent/answer.h"

namespace kw {
namespace {

constexpr std::size_t kMostKnobs = 6, kMostKnobValues = 8;

bool is_name_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

// The text between the parentheses after a function's name where a body follows, or where `declared` a semicolon or the end.
std::optional<std::string> argument_text(const std::string& code, const std::string& name, bool declared) {
  for (std::size_t at = code.find(name); at != std::string::npos; at = code.find(name, at + 1)) {
    if ((at > 0 && is_name_letter(code[at - 1])) || is_name_letter(at + name.size() < code.size() ? code[at + name.size()] : ' '))
      continue;
    const std::size_t open = code.find_first_not_of(" \t\n", at + name.size());
    if (open == std::string::npos || code[open] != '(') continue;
    int depth = 0;
    std::size_t close = open;
    for (; close < code.size(); ++close) {
      if (code[close] == '(') ++depth;
      if (code[close] == ')' && --depth == 0) break;
    }
    if (close == code.size()) return std::nullopt;
    std::size_t after = code.find_first_not_of(" \t\n", close + 1);
    if (after != std::string::npos && code.compare(after, 8, "noexcept") == 0) after = code.find_first_not_of(" \t\n", after + 8);
    const bool body = after != std::string::npos && code[after] == '{';
    if (body || declared) return code.substr(open + 1, close - open - 1);
  }
  return std::nullopt;
}

std::vector<std::string> tokens_of(const std::string& text) {
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (is_name_letter(c)) {
      std::size_t end = i;
      while (end < text.size() && is_name_letter(text[end])) ++end;
      tokens.push_back(text.substr(i, end - i));
      i = end;
    } else {
      if (c != ' ' && c != '\t' && c != '\n') tokens.emplace_back(1, c);
      ++i;
    }
  }
  return tokens;
}

// One argument in a uniform spelling: const first, no name, no restrict, no std::, arrays as pointers.
std::string uniform_type(const std::string& argument) {
  static const std::set<std::string> kSilent{"__restrict__", "__restrict", "restrict", "KW_RESTRICT", "std", ":", "struct",
                                             "maybe_unused", "[",          "]"};
  bool is_const = false, is_array = argument.find('[') != std::string::npos && argument.find("[[") == std::string::npos;
  int pointers = 0;
  std::vector<std::string> words;
  for (const std::string& token : tokens_of(argument.substr(0, argument.find('=')))) {
    if (token == "const") {
      is_const = is_const || pointers == 0;
    } else if (token == "*") {
      ++pointers;
    } else if (token == "&") {
      words.emplace_back("&");
    } else if (!kSilent.contains(token)) {
      words.push_back(token);
    }
  }
  // The last word is the name, unless it is part of the type.
  static const std::set<std::string> kTypeWords{"float", "double",   "int",    "long", "short",
                                                "char",  "unsigned", "signed", "bool", "void"};
  if (words.size() > 1 && !kTypeWords.contains(words.back())) words.pop_back();
  std::string type;
  for (const std::string& word : words) type += (type.empty() ? "" : " ") + word;
  if (is_array) ++pointers;
  return (is_const ? "const " : "") + type + std::string(static_cast<std::size_t>(pointers), '*');
}

std::vector<std::string> uniform_types(const std::string& list) {
  std::vector<std::string> types;
  std::string part;
  int depth = 0;
  for (const char c : list) {
    if (c == '(' || c == '<') ++depth;
    if (c == ')' || c == '>') --depth;
    if (c == ',' && depth == 0) {
      types.push_back(uniform_type(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (part.find_first_not_of(" \t\n") != std::string::npos && !(types.empty() && uniform_type(part) == "void"))
    types.push_back(uniform_type(part));
  return types;
}

// Types of the contract itself: others may be aliases, and only a compiler knows what they stand for.
bool is_contract_type(const std::string& type) {
  static const std::set<std::string> kKnown{"float",   "double", "bool",    "int",     "void",    "kw_f16",
                                            "kw_bf16", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t"};
  std::string bare = type.starts_with("const ") ? type.substr(6) : type;
  while (!bare.empty() && bare.back() == '*') bare.pop_back();
  return kKnown.contains(bare);
}

}  // namespace

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

std::string code_without_comments(std::string_view text) {
  std::string out(text);
  enum class In { code, line, block, string, character } in = In::code;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const char c = out[i], next = i + 1 < out.size() ? out[i + 1] : '\0';
    const auto blank = [&](std::size_t at) {
      if (out[at] != '\n') out[at] = ' ';
    };
    switch (in) {
      case In::code:
        if (c == '/' && next == '/') in = In::line;
        if (c == '/' && next == '*') in = In::block;
        if (in != In::code) {
          blank(i);
          blank(++i);
        } else if (c == '"') {
          in = In::string;
        } else if (c == '\'' && !(i > 0 && is_name_letter(out[i - 1]))) {  // not the separator of 1'000
          in = In::character;
        }
        break;
      case In::line:
        if (c == '\n') in = In::code;
        blank(i);
        break;
      case In::block:
        if (c == '*' && next == '/') {
          in = In::code;
          blank(i++);
        }
        blank(i);
        break;
      case In::string:
      case In::character:
        if (c == '\n' || c == (in == In::string ? '"' : '\'')) {
          in = In::code;
        } else {
          if (c == '\\' && i + 1 < out.size()) blank(i++);
          blank(i);
        }
        break;
    }
  }
  return out;
}

bool braces_balance(const std::string& text) {
  int depth = 0;
  for (const char c : code_without_comments(text)) {
    if (c == '{') ++depth;
    if (c == '}' && --depth < 0) return false;
  }
  return depth == 0;
}

bool defines_function(const std::string& text, const std::string& name) {
  return argument_text(code_without_comments(text), name, false).has_value();
}

std::optional<std::vector<std::string>> argument_types(const std::string& text, const std::string& name) {
  const auto list = argument_text(code_without_comments(text), name, false);
  if (!list) return std::nullopt;
  return uniform_types(*list);
}

std::optional<std::string> signature_problem(const std::string& code, const std::string& declaration) {
  const auto wanted_text = argument_text(declaration, "kw_kernel", true);
  if (!wanted_text) return std::nullopt;
  const auto found = argument_types(code, "kw_kernel");
  if (!found) return "the code defines no function kw_kernel";
  std::vector<std::string> wanted = uniform_types(*wanted_text);
  if (defines_function(code, "kw_prepare")) wanted.insert(wanted.begin(), "void*");
  if (found->size() != wanted.size())
    return fmt::format("kw_kernel takes {} arguments, the answer's takes {}; it must be exactly: {}", wanted.size(), found->size(),
                       declaration);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if ((*found)[i] != wanted[i] && is_contract_type((*found)[i]) && is_contract_type(wanted[i]))
      return fmt::format("argument {} of kw_kernel is {}, the answer's is {}; it must be exactly: {}", i + 1, wanted[i],
                         (*found)[i], declaration);
  return std::nullopt;
}

std::vector<Knob> knobs_of(const std::string& source) {
  static const std::regex kLine("^\\s*//\\s*kw:knob\\s+(KW_[A-Z0-9_]{1,40})((?:\\s+-?[0-9]{1,9})+)\\s*$");
  std::vector<Knob> knobs;
  for (const std::string& line : lines_of(source)) {
    std::smatch match;
    if (knobs.size() == kMostKnobs || line.size() > 300 || !std::regex_match(line, match, kLine)) continue;
    Knob knob;
    knob.name = match[1];
    const std::string values = match[2];
    for (const std::string& word : tokens_of(values))
      if (word != "-") knob.values.push_back(std::stoll(word));
    if (values.find('-') != std::string::npos || knob.values.size() > kMostKnobValues) continue;
    const std::regex definition("^\\s*#\\s*define\\s+" + knob.name + "\\s+([0-9]{1,9})\\b.*");
    bool defined = false;
    for (const std::string& other : lines_of(source)) {
      std::smatch set;
      if (defined || other.size() > 300 || !std::regex_match(other, set, definition)) continue;
      knob.standard = std::stoll(set[1]);
      defined = true;
    }
    if (!defined) continue;
    const bool known = std::any_of(knobs.begin(), knobs.end(), [&](const Knob& other) { return other.name == knob.name; });
    // Without a guard in the text a value from outside would be a redefinition.
    const bool guarded = source.find("ifndef " + knob.name) != std::string::npos;
    if (!known && guarded && std::find(knob.values.begin(), knob.values.end(), knob.standard) != knob.values.end())
      knobs.push_back(knob);
  }
  return knobs;
}

std::string with_line_numbers(const std::string& text) {
  std::string out;
  int number = 0;
  for (const std::string& line : lines_of(text)) out += fmt::format("{:>4}| {}\n", ++number, line);
  return out;
}

}  // namespace kw
