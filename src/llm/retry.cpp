#include "llm/retry.h"

#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

namespace kw::llm {
namespace {

struct ServerError {
  std::string message, type, code, param;
};

std::string text_field(const Json& json, const char* name) {
  return json.is_object() && json.contains(name) && json.at(name).is_string() ? json.at(name).get<std::string>() : "";
}

// Providers agree on {"error": {"message", "type", ...}}; others send a text, or a page of a proxy.
ServerError error_in(const std::string& body) {
  constexpr std::size_t kShown = 300;
  ServerError error;
  if (const auto json = parse_json(body, ""); json && json->is_object()) {
    const Json& inner = json->contains("error") ? json->at("error") : *json;
    error = {text_field(inner, "message"), text_field(inner, "type"), text_field(inner, "code"), text_field(inner, "param")};
    if (inner.is_string()) error.message = inner.get<std::string>();
  }
  if (error.message.empty()) error.message = body;
  std::replace_if(
      error.message.begin(), error.message.end(), [](unsigned char c) { return c < 32; }, ' ');
  if (error.message.size() > kShown) error.message = error.message.substr(0, kShown) + "...";
  return error;
}

bool says(const std::string& text, std::string_view word) { return text.find(word) != std::string::npos; }

bool no_such_model(const ServerError& error) {
  const bool names_it = says(error.message, "model") || error.type == "not_found_error";
  return error.code == "model_not_found" ||
         (names_it && (says(error.message, "does not exist") || says(error.message, "not found") ||
                       says(error.message, "unknown") || says(error.message, "invalid model")));
}

bool out_of_credit(const ServerError& error) {
  return error.code == "insufficient_quota" || error.type == "billing_error" || says(error.message, "credit balance") ||
         says(error.message, "exceeded your current quota");
}

// A field that the endpoint does not know at all; one whose value it does not like is another matter.
std::string field_turned_down(const ServerError& error, const Provider& provider, const TurnedDown& turned_down) {
  std::string message = error.message;
  std::transform(message.begin(), message.end(), message.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::string_view kUnknown[] = {"unsupported", "not support", "unknown", "unrecognized", "not permitted",
                                           "not allowed", "unexpected",  "extra ",  "deprecated",   "must end with a user"};
  if (std::none_of(std::begin(kUnknown), std::end(kUnknown), [&](std::string_view word) { return says(message, word); })) return "";
  const auto find = [&](const auto& named) {
    const auto& fields = provider.optional_fields;
    const auto found = std::find_if(fields.begin(), fields.end(),
                                    [&](std::string_view field) { return !turned_down.contains(field) && named(field); });
    return found == fields.end() ? std::string() : std::string(*found);
  };
  const std::string by_name = find([&](std::string_view field) { return error.param == field; });
  return by_name.empty() ? find([&](std::string_view field) { return says(message, field); }) : by_name;
}

Judgement judge_ending(const HttpResponse& response, const std::string& base_url) {
  switch (response.ending) {
    case HttpEnding::bad_url:
      return {.fault = Fault::fatal, .why = fmt::format("{}: {}", base_url, response.reason), .hint = "check --base-url"};
    case HttpEnding::unreachable:
      return {.fault = Fault::again,
              .fatal_at_last = true,
              .why = fmt::format("{} cannot be reached: {}", base_url, response.reason),
              .hint = "check --base-url, the network, and whether the server runs"};
    case HttpEnding::cancelled:
      return {.fault = Fault::fatal, .why = "the model's answer was not waited for: cancelled", .hint = ""};
    default:
      return {.fault = Fault::again, .why = fmt::format("the answer broke off: {}", response.reason), .hint = ""};
  }
}

}  // namespace

Judgement judge_response(const HttpResponse& response, const Provider& provider, const TurnedDown& turned_down,
                         const std::string& model, const std::string& base_url) {
  if (response.ending != HttpEnding::complete && response.status < 400) return judge_ending(response, base_url);
  const ServerError error = error_in(response.body);
  const std::string said = fmt::format("status {}{}{}", response.status, error.message.empty() ? "" : ": ", error.message);
  const auto fatal = [&](const std::string& why, std::string hint) {
    return Judgement{.fault = Fault::fatal, .why = fmt::format("{} ({})", why, said), .hint = std::move(hint)};
  };
  const int status = response.status;
  if (out_of_credit(error) || status == 402)
    return fatal(fmt::format("{} says that the account has no credit left", base_url), "see the provider's page for billing");
  if (status == 401 || status == 403)
    return fatal(fmt::format("{} does not accept the key", base_url),
                 fmt::format("check the key in KERNELWRIGHT_API_KEY or {}", provider.key_variable));
  if (status == 400 || status == 422)
    if (const std::string field = field_turned_down(error, provider, turned_down); !field.empty())
      return {.fault = Fault::adapt, .why = said, .turned_down = field};
  if (status == 404 || ((status == 400 || status == 422) && no_such_model(error)))
    return fatal(fmt::format("{} has no model '{}'", base_url, model), "check --model and --base-url");
  if (status >= 300 && status < 400)
    return fatal(fmt::format("{} redirects to {}", base_url, response.location), "give that address as --base-url if you trust it");
  const bool passing = status == 408 || status == 409 || status == 425 || status == 429 || status >= 500;
  if (!passing) return {.fault = Fault::prompt, .why = said, .hint = ""};
  return {.fault = Fault::again, .why = said, .hint = "", .wait_seconds = seconds_to_wait(response.retry_after)};
}

std::optional<double> seconds_to_wait(const std::string& retry_after) {
  if (retry_after.empty()) return std::nullopt;
  char* end = nullptr;
  const double seconds = std::strtod(retry_after.c_str(), &end);
  if (*end == '\0' && std::isfinite(seconds)) return std::max(0.0, seconds);
  const std::time_t date = curl_getdate(retry_after.c_str(), nullptr);
  if (date < 0) return std::nullopt;
  return std::max(0.0, std::difftime(date, std::time(nullptr)));
}

double backoff(double first, int attempt, double most, double chance) {
  const double longest = std::min(most, first * std::pow(2, std::min(attempt, 20) - 1));
  return longest * (0.5 + 0.5 * chance);
}

}  // namespace kw::llm
