// Text of PTX to tokens. Comments go; what no token can start with is an error with its line.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"

namespace kw::vgpu {

struct Token {
  enum class Kind : unsigned char { word, dot_word, number, string, punctuation, end };
  Kind kind = Kind::end;
  std::string_view text;  // of a string: without its quotes; of a dot_word: without the dot
  int line = 0;

  [[nodiscard]] bool is(char c) const { return kind == Kind::punctuation && text[0] == c; }
  [[nodiscard]] bool is_dot(std::string_view name) const { return kind == Kind::dot_word && text == name; }
};

// The tokens point into the text.
Result<std::vector<Token>> lex_ptx(std::string_view text);

}  // namespace kw::vgpu
