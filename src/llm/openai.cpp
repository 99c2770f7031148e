// Chat completions as OpenAI describes them and most other servers understand them.
#include "llm/provider.h"

#include <algorithm>

namespace kw::llm {
namespace {

std::vector<std::string> openai_headers(const std::string& key) {
  std::vector<std::string> headers{"Content-Type: application/json", "Accept: text/event-stream"};
  if (!key.empty()) headers.push_back("Authorization: Bearer " + key);
  return headers;
}

// OpenAI turns down a wish for JSON of which the messages say nothing.
bool mentions_json(const ChatRequest& request) {
  return std::any_of(request.messages.begin(), request.messages.end(), [](const ChatMessage& message) {
    return message.content.find("JSON") != std::string::npos || message.content.find("json") != std::string::npos;
  });
}

Json openai_body(const ChatRequest& request, const std::string& model, int max_tokens, const TurnedDown& turned_down) {
  const auto accepted = [&](std::string_view field) { return !turned_down.contains(field); };
  Json body{{"model", model}, {"messages", request.messages}, {"stream", true}};
  if (accepted("stream_options")) body["stream_options"] = {{"include_usage", true}};
  // Older servers know only the first name, newer models of OpenAI's only the second.
  body[accepted("max_tokens") ? "max_tokens" : "max_completion_tokens"] = max_tokens;
  if (accepted("temperature")) body["temperature"] = request.temperature;
  if (request.seed && accepted("seed")) body["seed"] = *request.seed;
  if (!request.stop.empty() && accepted("stop")) body["stop"] = request.stop;
  if (request.want_json && mentions_json(request) && accepted("response_format"))
    body["response_format"] = {{"type", "json_object"}};
  return body;
}

std::string openai_finish(const std::string& reason) { return reason == "length" ? "length" : "stop"; }

void read_openai_error(const Json& error, Reply& reply) {
  reply.refusal = error.is_object() ? error.value("message", error.dump()) : error.dump();
  reply.try_again = !error.is_object() || error.value("type", Json()) != "invalid_request_error";
}

void read_usage(const Json& chunk, Reply& reply) {
  if (!chunk.contains("usage") || !chunk.at("usage").is_object()) return;
  reply.input_tokens = chunk.at("usage").value("prompt_tokens", std::int64_t{0});
  reply.output_tokens = chunk.at("usage").value("completion_tokens", std::int64_t{0});
}

// `part` is "delta" in a stream and "message" in a whole answer.
void read_choice(const Json& chunk, const char* part, Reply& reply) {
  if (!chunk.contains("choices") || chunk.at("choices").empty()) return;
  const Json& choice = chunk.at("choices").at(0);
  if (choice.contains(part)) {
    const Json& message = choice.at(part);
    if (message.contains("content") && !message.at("content").is_null()) reply.text += message.at("content").get<std::string>();
  }
  if (choice.contains("finish_reason") && !choice.at("finish_reason").is_null())
    reply.finish = openai_finish(choice.at("finish_reason").get<std::string>());
}

Status read_openai_chunk(const Json& chunk, const char* part, Reply& reply) {
  auto read = read_fields("an answer of the model's server", [&] {
    if (chunk.contains("error") && !chunk.at("error").is_null()) {
      read_openai_error(chunk.at("error"), reply);
    } else {
      read_choice(chunk, part, reply);
      read_usage(chunk, reply);
    }
    return true;
  });
  if (!read) return std::move(read.error());
  return {};
}

Status read_openai_event(const SseEvent& event, Reply& reply) {
  if (event.data == "[DONE]") {
    reply.complete = true;
    return {};
  }
  KW_TRY(const Json chunk, parse_json(event.data, "an event of the model's server"));
  KW_CHECK(read_openai_chunk(chunk, "delta", reply));
  // Some servers close the stream after the reason without the word for its end.
  if (!reply.finish.empty()) reply.complete = true;
  return {};
}

Status read_openai_whole(const Json& answer, Reply& reply) {
  KW_CHECK(read_openai_chunk(answer, "message", reply));
  reply.complete = !reply.finish.empty();
  return {};
}

}  // namespace

const Provider kOpenAi{.name = "openai",
                       .base_url = "https://api.openai.com/v1",
                       .path = "/v1/chat/completions",
                       .key_variable = "OPENAI_API_KEY",
                       .model_prefixes = {"gpt-", "o1", "o3", "o4", "chatgpt-"},
                       .headers = openai_headers,
                       .body = openai_body,
                       .read_event = read_openai_event,
                       .read_whole = read_openai_whole,
                       .continues_own_words = false,
                       .optional_fields = {"max_tokens", "temperature", "response_format", "stream_options", "seed", "stop"}};

}  // namespace kw::llm
