#include "llm/provider.h"

#include <algorithm>

namespace kw::llm {

std::span<const Provider> providers() {
  static const Provider table[] = {kOpenAi, kAnthropic};
  return table;
}

const Provider* find_provider(std::string_view name) {
  const auto all = providers();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Provider& provider) { return provider.name == name; });
  return found == all.end() ? nullptr : &*found;
}

const Provider& provider_of_model(std::string_view model, std::string_view base_url) {
  for (const Provider& provider : providers()) {
    const bool own_host = base_url.find(provider.name) != std::string_view::npos;
    const bool own_model = std::any_of(provider.model_prefixes.begin(), provider.model_prefixes.end(),
                                       [&](std::string_view prefix) { return model.starts_with(prefix); });
    if (own_host || (base_url.empty() && own_model)) return provider;
  }
  return *find_provider("openai");  // what nearly every other endpoint speaks
}

std::string endpoint_url(const Provider& provider, std::string base_url) {
  while (base_url.ends_with('/')) base_url.pop_back();
  std::string_view path = provider.path;
  const std::string_view version = path.substr(0, path.find('/', 1));
  if (base_url.ends_with(version)) path.remove_prefix(version.size());
  return base_url.ends_with(path) ? base_url : base_url + std::string(path);
}

}  // namespace kw::llm
