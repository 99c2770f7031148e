// A kernel's source as lines of code in which evidence may be looked for. Nothing is compiled and no macro is expanded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kw {

// What is left of C++ without what a compiler would not turn into code: comments, the insides of literals (but for _Pragma's, which
// is a directive) and parts under `#if 0`. Continued lines are joined; empty ones are left out.
std::vector<std::string> code_lines(std::string_view source);

// What is left of PTX without comments, positions in the source and data of debuggers.
std::vector<std::string> ptx_code_lines(std::string_view ptx);

}  // namespace kw
