// What differs between the protocols of model providers: where a request goes, how it is written, how its answer is read. One row
// of the table each; nothing here sends anything.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "llm/model.h"
#include "llm/sse.h"

namespace kw::llm {

// Parts of a request that an endpoint has turned down: they are left out, or written the other way that there is.
using TurnedDown = std::set<std::string, std::less<>>;

// An answer as far as it was read.
struct Reply {
  std::string text;
  std::string finish;             // stop, length; empty until the provider says
  bool complete = false;          // the stream came to its end
  std::int64_t input_tokens = 0;  // 0: not said
  std::int64_t output_tokens = 0;
  std::string refusal;    // why the provider broke off; empty: it did not
  bool try_again = true;  // after a refusal
};

struct Provider {
  std::string_view name;                         // the protocol's name for --protocol
  std::string_view base_url;                     // the provider's own
  std::string_view path;                         // below a base URL; a version that the base URL ends with is not repeated
  std::string_view key_variable;                 // where people keep the key
  std::vector<std::string_view> model_prefixes;  // names of models that are its own
  std::vector<std::string> (*headers)(const std::string& key);
  Json (*body)(const ChatRequest& request, const std::string& model, int max_tokens, const TurnedDown& turned_down);
  Status (*read_event)(const SseEvent& event, Reply& reply);  // an error where the event cannot be understood
  Status (*read_whole)(const Json& answer, Reply& reply);     // from endpoints that do not stream
  bool continues_own_words;                                   // an answer goes on where a last message of the assistant ends
  // Fields that may be turned down, each with a word by which an error message names it.
  std::vector<std::string_view> optional_fields;
};

std::span<const Provider> providers();
const Provider* find_provider(std::string_view name);  // null: there is none
const Provider& provider_of_model(std::string_view model, std::string_view base_url);
std::string endpoint_url(const Provider& provider, std::string base_url);

extern const Provider kOpenAi;
extern const Provider kAnthropic;

}  // namespace kw::llm
