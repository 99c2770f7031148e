#include "dsl/cpp_text.h"

#include <cctype>

namespace kw {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Where a raw string literal that begins at `quote` ends; npos when it never does.
std::size_t end_of_raw_string(std::string_view text, std::size_t quote) {
  const std::size_t open = text.find('(', quote);
  if (open == std::string_view::npos) return open;
  const std::string close = ")" + std::string(text.substr(quote + 1, open - quote - 1)) + "\"";
  const std::size_t end = text.find(close, open);
  return end == std::string_view::npos ? end : end + close.size();
}

bool is_raw_prefix(std::string_view text, std::size_t quote) {
  if (quote == 0 || text[quote - 1] != 'R') return false;
  if (quote == 1 || !is_word(text[quote - 2])) return true;
  return text[quote - 2] == 'u' || text[quote - 2] == 'U' || text[quote - 2] == 'L' || text[quote - 2] == '8';
}

// A quote within a number, as in 1'000 or 0xAB'CD: the word that it belongs to begins with a digit.
bool is_digit_separator(std::string_view text, std::size_t quote) {
  std::size_t start = quote;
  while (start > 0 && quote - start < 256 && (is_word(text[start - 1]) || text[start - 1] == '\'')) --start;
  return start < quote && std::isdigit(static_cast<unsigned char>(text[start])) != 0;
}

// Blanks comments, and literals' insides when asked to; newlines stay where they are.
std::string blank(std::string_view text, bool literals_too) {
  std::string out(text);
  const auto wipe = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to && i < out.size(); ++i)
      if (out[i] != '\n') out[i] = ' ';
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '/' && i + 1 < text.size() && text[i + 1] == '/') {
      std::size_t end = i;
      while (end < text.size() && !(text[end] == '\n' && text[end - 1] != '\\')) ++end;
      wipe(i, end);
      i = end;
    } else if (c == '/' && i + 1 < text.size() && text[i + 1] == '*') {
      std::size_t end = text.find("*/", i + 2);
      end = end == std::string_view::npos ? text.size() : end + 2;
      wipe(i, end);
      i = end - 1;
    } else if (c == '"' && is_raw_prefix(text, i)) {
      std::size_t end = end_of_raw_string(text, i);
      if (end == std::string_view::npos) end = text.size();
      wipe(i + 1, end - 1);  // always: it may span lines, and no directive has one
      i = end - 1;
    } else if (c == '"' || (c == '\'' && !is_digit_separator(text, i))) {
      std::size_t end = i + 1;
      while (end < text.size() && text[end] != c && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
      if (literals_too) wipe(i + 1, end);
      i = end;
    }
  }
  return out;
}

// Joins continued lines by moving the newlines behind the joined line, so that numbers of later lines stay.
std::string splice(std::string_view text) {
  std::string out;
  std::size_t owed = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      const std::size_t next = text.find_first_not_of(" \t\r\f\v", i + 1);  // blanks in between change nothing for GCC
      if (next != std::string_view::npos && text[next] == '\n') {
        ++owed;
        i = next;
        continue;
      }
    }
    out += text[i];
    if (text[i] == '\n') {
      out.append(owed, '\n');
      owed = 0;
    }
  }
  return out;
}

}  // namespace

std::string code_only(std::string_view text) { return blank(splice(text), true); }

std::vector<IncludeLine> include_lines(std::string_view text) {
  const std::string code = blank(splice(text), false);
  std::vector<IncludeLine> found;
  int line = 0;
  for (std::size_t start = 0; start < code.size();) {
    ++line;
    const std::size_t end = std::min(code.find('\n', start), code.size());
    std::string_view row(code.data() + start, end - start);
    start = end + 1;
    const auto skip_blanks = [&] {
      while (!row.empty() && (row.front() == ' ' || row.front() == '\t')) row.remove_prefix(1);
    };
    skip_blanks();
    if (row.substr(0, 2) == "%:")
      row.remove_prefix(2);
    else if (!row.empty() && row.front() == '#')
      row.remove_prefix(1);
    else
      continue;
    skip_blanks();
    std::size_t length = 0;
    while (length < row.size() && is_word(row[length])) ++length;
    const std::string directive(row.substr(0, length));
    if (directive != "include" && directive != "include_next" && directive != "import") continue;
    row.remove_prefix(length);
    skip_blanks();
    IncludeLine include{line, "", directive};
    if (!row.empty() && (row.front() == '<' || row.front() == '"')) {
      const char close = row.front() == '<' ? '>' : '"';
      const std::size_t stop = row.find(close, 1);
      include.name = std::string(row.substr(1, stop == std::string_view::npos ? stop : stop - 1));
    }
    found.push_back(include);
  }
  return found;
}

bool mentions_identifier(std::string_view text, std::string_view identifier) {
  const std::string code = code_only(text);
  for (std::size_t at = code.find(identifier); at != std::string::npos; at = code.find(identifier, at + 1)) {
    const bool starts = at == 0 || !is_word(code[at - 1]);
    const std::size_t after = at + identifier.size();
    if (starts && (after >= code.size() || !is_word(code[after]))) return true;
  }
  return false;
}

bool is_identifier(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0) return false;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') return false;
  return true;
}

}  // namespace kw
