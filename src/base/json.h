// JSON for the whole house: nlohmann's, read without exceptions reaching the caller.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace kw {

using Json = nlohmann::json;

// `what` names the source of the text in the error, e.g. "the oracle's answer".
Result<Json> parse_json(std::string_view text, std::string_view what);

// Runs a reader of JSON fields; a missing or mistyped field becomes an Error that names it.
template <typename Reader>
auto read_fields(std::string_view what, Reader&& reader) -> Result<decltype(reader())> {
  try {
    return reader();
  } catch (const Json::exception& e) {
    return bad_input(std::string(what) + ": " + e.what());
  }
}

}  // namespace kw

// Defines to_json and from_json for a struct whose fields are its JSON keys (declared in the struct's header).
#define KW_JSON_FIELDS(Type, ...)                                              \
  void to_json(Json& nlohmann_json_j, const Type& nlohmann_json_t) {           \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, __VA_ARGS__))   \
  }                                                                            \
  void from_json(const Json& nlohmann_json_j, Type& nlohmann_json_t) {         \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_FROM, __VA_ARGS__)) \
  }
