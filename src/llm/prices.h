// What models cost and how much they can read, from knowledge/models/prices.json. Nothing is looked up on the network.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/json.h"

namespace kw::llm {

struct Price {
  double input = 0;  // US dollars for a million tokens
  double output = 0;
  [[nodiscard]] double of(std::int64_t input_tokens, std::int64_t output_tokens) const {
    return (static_cast<double>(input_tokens) * input + static_cast<double>(output_tokens) * output) / 1e6;
  }
};

struct PricedModel {
  std::string name;
  Price price;
  int context_tokens = 0;
  int output_tokens = 0;  // the longest answer
};

struct PriceTable {
  std::string as_of;  // the date that the prices are of
  std::vector<PricedModel> models;
  // By its name, also with a date or "latest" behind it ("gpt-4o-2024-11-20"), or a router's prefix before ("openai/gpt-4o").
  [[nodiscard]] const PricedModel* find(std::string_view model) const;
};

Result<PriceTable> read_price_table(const fs::path& file);

}  // namespace kw::llm
