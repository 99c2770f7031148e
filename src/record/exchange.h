// One question to a language model and its answer, as the archive and recordings keep it. Never holds a key.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace kw {

struct ChatMessage {
  std::string role;  // system, user, assistant
  std::string content;
  bool operator==(const ChatMessage&) const = default;
};

struct Exchange {
  std::int64_t id = 0;      // given by the archive
  std::string purpose;      // the agent's role: strategist, translator, ...
  std::string provider;     // openai, anthropic, local
  std::string model;        // as the provider names it
  std::string prompt_hash;  // of the purpose and the messages
  std::vector<ChatMessage> messages;
  std::string answer;
  std::string finish;  // stop; length: cut off; error: `error` says why, and `answer` has what came before
  std::string error;
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  double seconds = 0;  // waiting and retries included
  double usd = 0;
  int attempts = 0;  // requests that were sent for it; more than 1 after faults or continuations
  std::string created_at;

  [[nodiscard]] bool answered() const { return finish == "stop"; }
};

// The same for the same purpose and messages, whatever model answers.
std::string prompt_hash(const std::string& purpose, const std::vector<ChatMessage>& messages);

void to_json(Json& json, const ChatMessage& message);
void from_json(const Json& json, ChatMessage& message);
void to_json(Json& json, const Exchange& exchange);
void from_json(const Json& json, Exchange& exchange);

}  // namespace kw
