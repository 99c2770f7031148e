#include "base/json.h"

namespace kw {

Result<Json> parse_json(std::string_view text, std::string_view what) {
  constexpr std::size_t kMaxDepth = 200;  // nlohmann's parser is iterative, its destructor and dump are not
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxDepth) return bad_input(std::string(what) + ": nested deeper than 200 levels");
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  try {
    return Json::parse(text);
  } catch (const Json::exception& e) {
    return bad_input(std::string(what) + ": not valid JSON: " + e.what());
  }
}

}  // namespace kw
