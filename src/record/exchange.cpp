#include "record/exchange.h"

#include "base/hash.h"

namespace kw {

std::string prompt_hash(const std::string& purpose, const std::vector<ChatMessage>& messages) {
  std::string joined = key_of(purpose);
  for (const ChatMessage& message : messages) joined += key_of(message.role, message.content);
  return sha256(joined);
}

KW_JSON_FIELDS(ChatMessage, role, content)
KW_JSON_FIELDS(Exchange, id, purpose, provider, model, prompt_hash, messages, answer, finish, error, input_tokens, output_tokens,
               seconds, usd, attempts, created_at)

}  // namespace kw
