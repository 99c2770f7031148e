#include "llm/prices.h"

#include <algorithm>
#include <cctype>

namespace kw::llm {
namespace {

// "-2024-11-20", "-20250929", "-latest", "@20250929": the same model, but not "-mini".
bool names_a_version(std::string_view rest) {
  if (rest.empty()) return true;
  if (rest.front() != '-' && rest.front() != '@') return false;
  rest.remove_prefix(1);
  return rest == "latest" || (rest.size() >= 4 && std::all_of(rest.begin(), rest.end(),
                                                              [](unsigned char c) { return std::isdigit(c) != 0 || c == '-'; }));
}

}  // namespace

const PricedModel* PriceTable::find(std::string_view model) const {
  if (const std::size_t slash = model.rfind('/'); slash != std::string_view::npos) model.remove_prefix(slash + 1);
  const auto found = std::find_if(models.begin(), models.end(), [&](const PricedModel& priced) {
    return model.starts_with(priced.name) && names_a_version(model.substr(priced.name.size()));
  });
  return found == models.end() ? nullptr : &*found;
}

Result<PriceTable> read_price_table(const fs::path& file) {
  KW_TRY(const std::string text, read_file(file));
  KW_TRY(const Json json, parse_json(text, file.string()));
  return read_fields(file.string(), [&] {
    PriceTable table;
    table.as_of = json.at("as_of").get<std::string>();
    for (const Json& row : json.at("models"))
      table.models.push_back({row.at("name").get<std::string>(),
                              {row.at("input").get<double>(), row.at("output").get<double>()},
                              row.at("context_tokens").get<int>(),
                              row.at("output_tokens").get<int>()});
    return table;
  });
}

}  // namespace kw::llm
