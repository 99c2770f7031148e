#include "llm/continuation.h"

#include <algorithm>

namespace kw::llm {
namespace {

constexpr std::size_t kLongestRepeat = 2000;
constexpr std::size_t kShortestRepeat = 12;  // fewer characters may well agree by chance

bool inside_code_block(const std::string& text) {
  bool inside = text.starts_with("```");
  for (std::size_t at = text.find("\n```"); at != std::string::npos; at = text.find("\n```", at + 4)) inside = !inside;
  return inside;
}

}  // namespace

ChatRequest request_for_the_rest(const ChatRequest& request, const std::string& so_far, bool continues_own_words) {
  ChatRequest rest = request;
  rest.messages.push_back({"assistant", so_far});
  if (!continues_own_words) rest.messages.push_back({"user", kGoOn});
  rest.want_json = false;  // the rest of an object is no object
  return rest;
}

std::string joined(const std::string& so_far, std::string rest) {
  if (inside_code_block(so_far) && rest.starts_with("```")) {
    const std::size_t line = rest.find('\n');
    // A fence with a language begins a block; a bare one ends the block that is open.
    if (line != std::string::npos && line > 3) rest.erase(0, line + 1);
  }
  for (std::size_t length = std::min({so_far.size(), rest.size(), kLongestRepeat}); length >= kShortestRepeat; --length)
    if (so_far.compare(so_far.size() - length, length, rest, 0, length) == 0) return so_far + rest.substr(length);
  return so_far + rest;
}

std::string as_utf8(const std::string& text) {
  const std::string quoted = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  auto parsed = Json::parse(quoted, nullptr, false);
  return parsed.is_string() ? parsed.get<std::string>() : std::string();
}

}  // namespace kw::llm
