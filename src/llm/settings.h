// Which model, where, with which key and within which limits: flags first, then the environment, then the configuration file.
#pragma once

#include <optional>
#include <string>

#include "llm/model.h"
#include "llm/prices.h"
#include "llm/provider.h"
#include "llm/secret.h"

namespace kw::llm {

struct Settings {
  std::string model;
  std::string base_url;
  const Provider* provider = nullptr;  // null for the local model
  Secret key;
  std::optional<Price> price;  // nothing: not known
  std::string price_date;
  int context_tokens = 0;
  int output_tokens = 0;  // the longest answer; 0: not known
  ModelLimits limits;
  [[nodiscard]] bool is_local() const { return model == "local" && base_url.empty(); }
};

Result<Settings> settings_of(const ModelOptions& options);

// Whether a URL leads to this machine.
bool is_loopback(std::string_view url);

}  // namespace kw::llm
