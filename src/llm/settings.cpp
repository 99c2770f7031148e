#include "llm/settings.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "llm/config_file.h"

namespace kw::llm {
namespace {

constexpr int kUnknownContext = 32768;  // what a model is taken to read where nobody says
constexpr int kUsualInFlight = 4;

std::string variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? value : "";
}

std::string first_of(std::initializer_list<std::string> values) {
  for (const std::string& value : values)
    if (!value.empty()) return value;
  return "";
}

// The host of a URL, without port and brackets.
std::string host_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return "";
  std::string_view rest = url.substr(scheme + 3);
  rest = rest.substr(0, rest.find_first_of("/?#"));
  if (rest.starts_with('[')) return std::string(rest.substr(1, rest.find(']') - 1));
  return std::string(rest.substr(0, rest.find(':')));
}

Status check_url(const std::string& url) {
  const bool web = url.starts_with("https://") || url.starts_with("http://");
  if (!web || host_of(url).empty())
    return bad_input(fmt::format("the base URL '{}' is no address of a server", url), "write it as https://HOST/v1");
  // What stands there could be a password, so it is not repeated.
  const std::string_view authority = std::string_view(url).substr(0, url.find('/', url.find("://") + 3));
  if (authority.find('@') != std::string_view::npos)
    return bad_input("the base URL has a name or password in it",
                     "keys come from the environment or from a file: see docs/models.md");
  if (url.find_first_of("?#") != std::string::npos)
    return bad_input("the base URL has a '?' or '#' in it", "give the part before it; keys come from the environment or a file");
  return {};
}

// The configuration file's own variable, then ours, then the provider's; then files.
Result<Secret> find_key(const Provider& provider, const ConfigFile& config) {
  for (const std::string& name : {config.key_variable, std::string("KERNELWRIGHT_API_KEY"), std::string(provider.key_variable)})
    if (!name.empty())
      if (const std::string value = variable(name); !value.empty()) return Secret::make(value, name);
  if (!config.key_file.empty()) {
    fs::path file = config.key_file;
    if (config.key_file.starts_with("~/")) file = fs::path(variable("HOME")) / config.key_file.substr(2);
    KW_TRY(const std::string text, read_private_file(config.path.parent_path() / file));
    return Secret::make(text, file.string());
  }
  if (!config.key.empty()) return Secret::make(config.key, config.path.string());
  return Secret();
}

Status choose_price(const ConfigFile& config, int wanted_context, Settings& settings) {
  KW_TRY(const fs::path root, install_root());
  KW_TRY(const PriceTable table, read_price_table(root / "knowledge" / "models" / "prices.json"));
  const PricedModel* known = table.find(settings.model);
  if (config.price) {
    settings.price = config.price;
  } else if (known) {
    settings.price = known->price;
    settings.price_date = table.as_of;
  } else if (is_loopback(settings.base_url)) {
    settings.price = Price{};
  }
  settings.context_tokens = wanted_context;
  if (settings.context_tokens == 0) settings.context_tokens = config.context_tokens;
  if (known) settings.output_tokens = known->output_tokens;
  if (settings.context_tokens == 0) settings.context_tokens = known ? known->context_tokens : kUnknownContext;
  if (settings.limits.max_usd > 0 && !settings.price)
    return bad_input(fmt::format("there is no price for the model '{}', so --max-usd cannot be kept (prices as of {})",
                                 settings.model, table.as_of),
                     fmt::format("put [price] input and output, in dollars for a million tokens, into {}; or use --max-tokens",
                                 config.path.string()));
  return {};
}

}  // namespace

bool is_loopback(std::string_view url) {
  const std::string host = host_of(url);
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

Result<Settings> settings_of(const ModelOptions& options) {
  KW_TRY(const ConfigFile config, read_config_file(config_path()));
  Settings settings;
  settings.limits = options.limits;
  ModelLimits& limits = settings.limits;
  if (limits.max_usd <= 0) limits.max_usd = config.max_usd;
  if (limits.max_tokens <= 0) limits.max_tokens = config.max_tokens;
  if (limits.in_flight <= 0) limits.in_flight = config.in_flight > 0 ? config.in_flight : kUsualInFlight;

  settings.model = first_of({options.model, variable("KERNELWRIGHT_MODEL"), config.name});
  if (settings.model.empty())
    return bad_input(
        "no model is named",
        fmt::format("give --model NAME (or --model local), set KERNELWRIGHT_MODEL, or put name = \"...\" under [model] in "
                    "{}",
                    config.path.string()));
  // A base URL of the environment or the file belongs to the model named there, not to the local one.
  const bool wants_local = settings.model == "local" && options.base_url.empty();
  if (wants_local) return settings;

  settings.base_url = first_of({options.base_url, variable("KERNELWRIGHT_BASE_URL"), config.base_url});
  const std::string protocol = first_of({options.protocol, variable("KERNELWRIGHT_PROTOCOL"), config.protocol});
  settings.provider = protocol.empty() ? &provider_of_model(settings.model, settings.base_url) : find_provider(protocol);
  if (!settings.provider) return bad_input(fmt::format("there is no protocol '{}'", protocol), "one of: openai, anthropic");
  const bool own_server = !settings.base_url.empty();
  if (!own_server) settings.base_url = settings.provider->base_url;
  KW_CHECK(check_url(settings.base_url));
  KW_TRY(settings.key, find_key(*settings.provider, config));
  if (settings.key.empty() && !own_server)
    return bad_input(
        fmt::format("there is no key for {}", settings.base_url),
        fmt::format("set {}, or key_file = \"...\" under [model] in {}", settings.provider->key_variable, config.path.string()));
  if (!settings.key.empty() && settings.base_url.starts_with("http://") && !is_loopback(settings.base_url))
    return bad_input(fmt::format("a key is not sent unencrypted to {}", settings.base_url), "use https://");
  KW_CHECK(choose_price(config, options.context_tokens, settings));
  return settings;
}

}  // namespace kw::llm
