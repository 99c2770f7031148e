#include "strategy/code_lines.h"

#include <algorithm>
#include <cctype>

namespace kw {
namespace {

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string joined_lines(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      const std::size_t next = text.find_first_not_of(" \t\r", i + 1);
      if (next != std::string_view::npos && text[next] == '\n') {
        out += ' ';
        i = next;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

bool ends_with_pragma_operator(std::string_view before) {
  const auto drop = [&](auto what) {
    while (!before.empty() && what(before.back())) before.remove_suffix(1);
  };
  const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  drop(blank);
  if (before.empty() || before.back() != '(') return false;
  before.remove_suffix(1);
  drop(blank);
  return before.size() >= 7 && before.substr(before.size() - 7) == "_Pragma";
}

// R, LR, uR, UR or u8R right before the quote, and no longer word.
bool begins_raw_string(std::string_view text, std::size_t quote) {
  std::size_t start = quote;
  while (start > 0 && quote - start < 4 && is_word_character(text[start - 1])) --start;
  const std::string_view prefix = text.substr(start, quote - start);
  return prefix == "R" || prefix == "LR" || prefix == "uR" || prefix == "UR" || prefix == "u8R";
}

// As in 1'000: the word around the quote begins with a digit.
bool separates_digits(std::string_view text, std::size_t quote) {
  std::size_t start = quote;
  while (start > 0 && (is_word_character(text[start - 1]) || text[start - 1] == '\'')) --start;
  return start < quote && std::isdigit(static_cast<unsigned char>(text[start])) != 0;
}

std::string without_comments_and_literals(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    if (rest.substr(0, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
    } else if (rest.substr(0, 2) == "/*") {
      const std::size_t end = text.find("*/", i + 2);
      out += ' ';
      i = end == std::string_view::npos ? text.size() : end + 2;
    } else if (rest[0] == '"' && begins_raw_string(text, i)) {
      const std::size_t open = text.find('(', i);
      const std::string close = open == std::string_view::npos ? "" : ")" + std::string(text.substr(i + 1, open - i - 1)) + "\"";
      const std::size_t end = open == std::string_view::npos ? open : text.find(close, open);
      out += "\"\"";
      i = end == std::string_view::npos ? text.size() : end + close.size();
    } else if (rest[0] == '"' || (rest[0] == '\'' && !separates_digits(text, i))) {
      std::size_t end = i + 1;
      while (end < text.size() && text[end] != rest[0] && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
      end = std::min(end, text.size());
      const bool keep = ends_with_pragma_operator(out);
      out += rest[0];
      if (keep) out += text.substr(i + 1, end - i - 1);
      out += rest[0];
      i = end < text.size() && text[end] == rest[0] ? end + 1 : end;
    } else {
      out += text[i++];
    }
  }
  return out;
}

// "if", "endif", ... of a directive's line, with what follows; empty for other lines.
std::string directive_of(std::string_view line) {
  const auto skip = [&] {
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.front())) != 0) line.remove_prefix(1);
  };
  skip();
  if (line.empty() || line.front() != '#') return {};
  line.remove_prefix(1);
  skip();
  std::string text(line);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
  return text;
}

bool is_never(const std::string& directive) {
  return directive == "if 0" || directive == "if false" || directive == "if (0)" || directive == "if(0)" || directive == "elif 0";
}

}  // namespace

std::vector<std::string> code_lines(std::string_view source) {
  const std::string text = without_comments_and_literals(joined_lines(source));
  std::vector<std::string> lines;
  std::vector<bool> dead;  // one for each open #if: its present branch is never compiled
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    std::string line = text.substr(start, end - start);
    start = end + 1;
    const std::string directive = directive_of(line);
    if (directive.rfind("if", 0) == 0) {
      dead.push_back(is_never(directive));
    } else if (directive.rfind("el", 0) == 0) {
      if (!dead.empty()) dead.back() = is_never(directive);
    } else if (directive.rfind("endif", 0) == 0) {
      if (!dead.empty()) dead.pop_back();
    } else if (std::find(dead.begin(), dead.end(), true) == dead.end()) {
      const bool blank = std::all_of(line.begin(), line.end(), [](unsigned char c) { return std::isspace(c) != 0; });
      if (!blank) lines.push_back(std::move(line));
    }
  }
  return lines;
}

std::vector<std::string> ptx_code_lines(std::string_view ptx) {
  std::vector<std::string> lines;
  bool in_section = false;
  while (!ptx.empty()) {
    const std::size_t end = std::min(ptx.find('\n'), ptx.size());
    std::string_view line = ptx.substr(0, end);
    ptx.remove_prefix(std::min(end + 1, ptx.size()));
    line = line.substr(0, line.find("//"));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) continue;
    line = line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
    if (line.starts_with(".section")) in_section = true;
    if (!in_section && !line.starts_with(".loc") && !line.starts_with(".file")) lines.emplace_back(line);
    if (in_section && line == "}") in_section = false;
  }
  return lines;
}

}  // namespace kw
