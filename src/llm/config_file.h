// The user's configuration file, config.toml: what it says of models. A word that it does not know is an error, because a
// misspelt limit would be no limit.
#pragma once

#include <optional>
#include <string>

#include "base/files.h"
#include "base/result.h"
#include "llm/prices.h"

namespace kw::llm {

struct ConfigFile {
  fs::path path;
  // [model]
  std::string name, base_url, protocol;
  std::string key, key_file, key_variable;
  int context_tokens = 0;
  int in_flight = 0;
  double max_usd = 0;
  std::int64_t max_tokens = 0;
  // [price], dollars for a million tokens
  std::optional<Price> price;
};

// $KERNELWRIGHT_CONFIG, else $XDG_CONFIG_HOME/kernelwright/config.toml, else ~/.config/kernelwright/config.toml.
fs::path config_path();

// A file that is not there says nothing. One that holds a key must be readable by its owner alone.
Result<ConfigFile> read_config_file(const fs::path& path);

}  // namespace kw::llm
