#include "archive/json_text.h"

#include <cmath>
#include <limits>

namespace kw {
namespace {

constexpr const char* kNumber = "$number";

void encode(Json& json) {
  if (json.is_structured()) {
    for (auto& child : json) encode(child);
  } else if (json.is_number_float()) {
    const double value = json.get<double>();
    if (std::isfinite(value)) return;
    json = Json{{kNumber, std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf"}};
  }
}

void decode(Json& json) {
  if (!json.is_structured()) return;
  if (json.is_object() && json.size() == 1 && json.begin().key() == kNumber && json.begin()->is_string()) {
    const auto name = json.begin()->get<std::string>();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (name == "nan") json = std::numeric_limits<double>::quiet_NaN();
    if (name == "inf") json = kInfinity;
    if (name == "-inf") json = -kInfinity;
    return;
  }
  for (auto& child : json) decode(child);
}

}  // namespace

std::string archived_text(const Json& json) {
  Json finite = json;
  encode(finite);
  return finite.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Json> json_from_archived_text(std::string_view text, std::string_view what) {
  KW_TRY(Json json, parse_json(text, what));
  decode(json);
  return json;
}

}  // namespace kw
