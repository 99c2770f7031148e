#include "agent/missing_headers.h"

#include <array>
#include <regex>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "agent/cpp_shape.h"

namespace kw {
namespace {

struct Home {
  std::string_view header;
  const char* names;  // in std::, as a regular expression
};

constexpr std::array<Home, 9> kHomes{
    {{"cmath",
      "abs|fabs|exp|exp2|expm1|log|log2|log10|log1p|sqrt|cbrt|pow|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|erf|erfc|fma|"
      "fmax|fmin|floor|ceil|round|trunc|nearbyint|rint|isnan|isinf|isfinite|copysign|fmod|hypot|tgamma|lgamma|signbit"},
     {"algorithm", "max|min|clamp|fill|fill_n|copy|copy_n|sort|swap_ranges|transform|max_element|min_element"},
     {"array", "array"},
     {"cstring", "memcpy|memset|memmove"},
     {"limits", "numeric_limits"},
     {"memory", "unique_ptr|make_unique|assume_aligned"},
     {"numeric", "accumulate|inner_product|iota|partial_sum"},
     {"utility", "swap|move|pair"},
     {"vector", "vector"}}};

}  // namespace

std::string with_missing_headers(const std::string& code) {
  static const std::regex kInclude("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]");
  std::set<std::string> included;
  const std::vector<std::string> lines = lines_of(code);
  std::size_t place = 0;  // after the problem's header, which no condition stands around; without it the very first line
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::smatch found;
    if (lines[i].size() > 300 || !std::regex_search(lines[i], found, kInclude)) continue;
    included.insert(found[1]);
    if (found[1] == "problem.h") place = i + 1;
  }
  std::string missing;
  if (!included.contains("problem.h")) missing += "#include \"problem.h\"\n";
  const std::string plain = code_without_comments(code);
  for (const Home& home : kHomes)
    if (!included.contains(std::string(home.header)) &&
        std::regex_search(plain, std::regex(fmt::format("\\bstd::({})\\b", home.names))))
      missing += fmt::format("#include <{}>\n", home.header);
  if (missing.empty()) return code;
  std::string text = place == 0 ? missing : "";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += lines[i] + "\n";
    if (i + 1 == place) text += missing;
  }
  return text;
}

}  // namespace kw
