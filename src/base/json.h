// JSON for the whole house: nlohmann's, read without exceptions reaching the caller.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace kw {

// How values are read and written; whole numbers more strictly than nlohmann's own, which rounds 1.5 and leaves the outcome
// for 1e30 to chance.
template <typename T, typename = void>
struct JsonValues : nlohmann::adl_serializer<T> {};

using Json =
    nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t, std::uint64_t, double, std::allocator, JsonValues>;

template <typename T>
struct JsonValues<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
  template <typename Target>
  static void to_json(Target& json, T value) {
    nlohmann::to_json(json, value);
  }
  static void from_json(const Json& json, T& value);
};

template <typename T>
void JsonValues<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>>::from_json(const Json& json, T& value) {
  const auto wrong = [&](const std::string& what) { return Json::type_error::create(302, what, &json); };
  if (json.is_number_unsigned()) {
    const auto number = *json.get_ptr<const std::uint64_t*>();
    if (!std::in_range<T>(number)) throw wrong("the number " + json.dump() + " is too large");
    value = static_cast<T>(number);
  } else if (json.is_number_integer()) {
    const auto number = *json.get_ptr<const std::int64_t*>();
    if (!std::in_range<T>(number)) throw wrong("the number " + json.dump() + " is out of range");
    value = static_cast<T>(number);
  } else if (json.is_number_float()) {
    const double number = *json.get_ptr<const double*>();
    constexpr double kExact = 9007199254740992;  // 2^53: every whole number up to it is a double
    const bool whole = number >= -kExact && number <= kExact && number == static_cast<double>(static_cast<std::int64_t>(number));
    if (!whole || !std::in_range<T>(static_cast<std::int64_t>(number))) throw wrong(json.dump() + " is no whole number in range");
    value = static_cast<T>(number);
  } else {
    throw wrong(std::string("type must be number, but is ") + json.type_name());
  }
}

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
