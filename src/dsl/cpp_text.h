// C++ text as the preprocessor's first phases see it: lines spliced, comments and literals told apart from code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kw {

// The text with comments replaced by blanks and the insides of literals blanked out; line numbers stay.
std::string code_only(std::string_view text);

struct IncludeLine {
  int line = 0;
  std::string name;       // what stands between the brackets or quotes; empty when it is a macro
  std::string directive;  // include, include_next, import
};
std::vector<IncludeLine> include_lines(std::string_view text);

bool is_identifier(std::string_view text);
// Whether an identifier occurs in the code (not in a comment or a literal).
bool mentions_identifier(std::string_view text, std::string_view identifier);

}  // namespace kw
