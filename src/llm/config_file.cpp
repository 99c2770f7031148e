#include "llm/config_file.h"

#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "llm/secret.h"

#define TOML_HEADER_ONLY 0  // the parser itself is in the shared library
#include <toml++/toml.h>

namespace kw::llm {
namespace {

// Reads the fields of one table and remembers what is wrong with it.
class TableReader {
 public:
  TableReader(const toml::table& table, std::string name, const fs::path& file)
      : table_(table), name_(std::move(name)), file_(file.string()) {}

  template <typename T>
  void read(const char* field, T& into) {
    known_ += fmt::format("{}{}", known_.empty() ? "" : ", ", field);
    seen_[field] = true;
    const toml::node* node = table_.get(field);
    if (!node || problem_) return;
    if constexpr (std::is_same_v<T, std::string>) {
      if (const auto value = node->value_exact<std::string>()) return void(into = *value);
      problem_ = wrong(field, "must be a text");
    } else if constexpr (std::is_floating_point_v<T>) {
      if (const auto value = node->value<double>(); value && *value >= 0) return void(into = *value);
      problem_ = wrong(field, "must be a number that is not negative");
    } else {
      const auto value = node->value_exact<std::int64_t>();
      if (value && *value >= 0 && std::in_range<T>(*value)) return void(into = static_cast<T>(*value));
      problem_ = wrong(field, "must be a whole number that is not negative");
    }
  }

  Status finish() {
    if (problem_) return std::move(*problem_);
    for (const auto& [key, node] : table_)
      if (!seen_.contains(std::string(key.str())))
        return bad_input(fmt::format("{}: [{}] has '{}', which means nothing here", file_, name_, key.str()),
                         fmt::format("[{}] may have: {}", name_, known_));
    return {};
  }

 private:
  [[nodiscard]] Error wrong(const char* field, const char* what) const {
    return bad_input(fmt::format("{}: {} in [{}] {}", file_, field, name_, what), "see docs/models.md for the form of this file");
  }

  const toml::table& table_;
  std::string name_, file_, known_;
  std::map<std::string, bool> seen_;
  std::optional<Error> problem_;
};

Status read_tables(const toml::table& root, ConfigFile& config) {
  for (const auto& [key, node] : root) {
    const std::string name(key.str());
    const toml::table* table = node.as_table();
    if (!table || (name != "model" && name != "price"))
      return bad_input(fmt::format("{} has '{}', which means nothing here", config.path.string(), name),
                       "it may have the tables [model] and [price]");
    TableReader reader(*table, name, config.path);
    if (name == "model") {
      reader.read("name", config.name);
      reader.read("base_url", config.base_url);
      reader.read("protocol", config.protocol);
      reader.read("key", config.key);
      reader.read("key_file", config.key_file);
      reader.read("key_variable", config.key_variable);
      reader.read("context_tokens", config.context_tokens);
      reader.read("in_flight", config.in_flight);
      reader.read("max_usd", config.max_usd);
      reader.read("max_tokens", config.max_tokens);
    } else {
      config.price.emplace();
      reader.read("input", config.price->input);
      reader.read("output", config.price->output);
    }
    KW_CHECK(reader.finish());
  }
  return {};
}

}  // namespace

fs::path config_path() {
  if (const char* value = std::getenv("KERNELWRIGHT_CONFIG"); value && *value) return value;
  if (const char* value = std::getenv("XDG_CONFIG_HOME"); value && *value) return fs::path(value) / "kernelwright" / "config.toml";
  const char* home = std::getenv("HOME");
  return fs::path(home && *home ? home : ".") / ".config" / "kernelwright" / "config.toml";
}

Result<ConfigFile> read_config_file(const fs::path& path) {
  ConfigFile config;
  config.path = path;
  std::error_code code;
  if (!fs::exists(path, code)) return config;
  KW_TRY(const std::string text, read_file(path));
  try {
    KW_CHECK(read_tables(toml::parse(text), config));
  } catch (const toml::parse_error& e) {
    // The description quotes no values, so that a key with a missing quote stays unseen.
    return bad_input(fmt::format("{}, line {}: {}", path.string(), e.source().begin.line, "this is no TOML"),
                     "see docs/models.md for the form of this file");
  }
  if (!config.key.empty()) {
    auto allowed = read_private_file(path);
    if (!allowed) return std::move(allowed.error());
  }
  return config;
}

}  // namespace kw::llm
