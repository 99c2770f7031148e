// Anthropic's messages.
#include "llm/provider.h"

#include <algorithm>

#include "llm/continuation.h"

namespace kw::llm {
namespace {

std::vector<std::string> anthropic_headers(const std::string& key) {
  std::vector<std::string> headers{"Content-Type: application/json", "Accept: text/event-stream", "anthropic-version: 2023-06-01"};
  if (!key.empty()) headers.push_back("x-api-key: " + key);
  return headers;
}

Json anthropic_body(const ChatRequest& request, const std::string& model, int max_tokens, const TurnedDown& turned_down) {
  const auto accepted = [&](std::string_view field) { return !turned_down.contains(field); };
  Json messages = Json::array();
  std::string system;
  for (const ChatMessage& message : request.messages) {
    if (message.role == "system")
      system += (system.empty() ? "" : "\n\n") + message.content;
    else
      messages.push_back(message);
  }
  if (!accepted("prefill") && !request.messages.empty() && request.messages.back().role == "assistant")
    messages.push_back(ChatMessage{"user", kGoOn});
  Json body{{"model", model}, {"max_tokens", max_tokens}, {"messages", messages}, {"stream", true}};
  if (!system.empty()) body["system"] = system;
  if (accepted("temperature")) body["temperature"] = std::clamp(request.temperature, 0.0, 1.0);
  // One of white space only is turned down there.
  Json stops = Json::array();
  for (const std::string& stop : request.stop)
    if (stop.find_first_not_of(" \t\r\n") != std::string::npos) stops.push_back(stop);
  if (!stops.empty()) body["stop_sequences"] = stops;
  return body;
}

std::string anthropic_finish(const std::string& reason) {
  return reason == "max_tokens" || reason == "model_context_window_exceeded" ? "length" : "stop";
}

void read_tokens(const Json& holder, Reply& reply) {
  if (!holder.contains("usage") || !holder.at("usage").is_object()) return;
  const Json& usage = holder.at("usage");
  const auto count = [&](const char* name) -> std::int64_t {
    return usage.contains(name) && usage.at(name).is_number() ? usage.at(name).get<std::int64_t>() : 0;
  };
  if (usage.contains("input_tokens"))
    reply.input_tokens = count("input_tokens") + count("cache_creation_input_tokens") + count("cache_read_input_tokens");
  reply.output_tokens = std::max(reply.output_tokens, count("output_tokens"));
}

void read_anthropic_error(const Json& error, Reply& reply) {
  reply.refusal = error.value("message", error.dump());
  const std::string type = error.value("type", "");
  reply.try_again = type != "invalid_request_error" && type != "authentication_error" && type != "permission_error";
}

Status read_anthropic_event(const SseEvent& event, Reply& reply) {
  KW_TRY(const Json data, parse_json(event.data, "an event of the model's server"));
  auto read = read_fields("an event of the model's server", [&] {
    const auto type = data.at("type").get<std::string>();
    if (type == "message_start") read_tokens(data.at("message"), reply);
    if (type == "content_block_delta" && data.at("delta").value("type", "") == "text_delta")
      reply.text += data.at("delta").at("text").get<std::string>();
    if (type == "message_delta") {
      const Json& reason = data.at("delta").at("stop_reason");
      if (!reason.is_null()) reply.finish = anthropic_finish(reason.get<std::string>());
      read_tokens(data, reply);
    }
    if (type == "message_stop") reply.complete = true;
    if (type == "error") read_anthropic_error(data.at("error"), reply);
    return true;
  });
  if (!read) return std::move(read.error());
  return {};
}

Status read_anthropic_whole(const Json& answer, Reply& reply) {
  auto read = read_fields("an answer of the model's server", [&] {
    if (answer.value("type", "") == "error") {
      read_anthropic_error(answer.at("error"), reply);
      return true;
    }
    for (const Json& block : answer.at("content"))
      if (block.value("type", "") == "text") reply.text += block.at("text").get<std::string>();
    if (!answer.at("stop_reason").is_null()) reply.finish = anthropic_finish(answer.at("stop_reason").get<std::string>());
    read_tokens(answer, reply);
    return true;
  });
  if (!read) return std::move(read.error());
  reply.complete = !reply.finish.empty();
  return {};
}

}  // namespace

const Provider kAnthropic{.name = "anthropic",
                          .base_url = "https://api.anthropic.com",
                          .path = "/v1/messages",
                          .key_variable = "ANTHROPIC_API_KEY",
                          .model_prefixes = {"claude-"},
                          .headers = anthropic_headers,
                          .body = anthropic_body,
                          .read_event = read_anthropic_event,
                          .read_whole = read_anthropic_whole,
                          .continues_own_words = true,
                          .optional_fields = {"temperature", "prefill"}};

}  // namespace kw::llm
