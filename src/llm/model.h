// A language model behind one call: a prompt in, an Exchange out. Retries, limits, recording and replay are inside; no key ever
// gets out, and no answer is interpreted here.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/exchange.h"

namespace kw {

struct ChatRequest {
  std::string purpose;  // the agent's role: strategist, translator, ...
  std::vector<ChatMessage> messages;
  int max_tokens = 0;  // of the answer; 0: as ModelLimits says
  double temperature = 0.2;
  std::optional<std::uint64_t> seed;
  std::vector<std::string> stop;
  bool want_json = false;
};

// What a model was asked for so far, replayed exchanges included.
struct ModelUsage {
  std::int64_t exchanges = 0;
  std::int64_t faults = 0;  // attempts that failed: retried or given up
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  double usd = 0;
  bool budget_spent = false;  // a request was refused for --max-usd or --max-tokens
};

class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  virtual ~Model() = default;

  // May be called from several threads; the model lets as many through as its limit says. An Error only when nothing can go on:
  // wrong key, unknown model, refused connection after retries, budget spent, a prompt that a replay does not have. What went
  // wrong with this prompt alone is in the exchange: see Exchange::finish.
  virtual Result<Exchange> chat(const ChatRequest& request) = 0;
  [[nodiscard]] virtual std::string name() const = 0;    // "local", "claude-...", as Kernel::author may say
  [[nodiscard]] virtual int context_tokens() const = 0;  // prompt and answer together
  [[nodiscard]] virtual ModelUsage usage() const = 0;    // so far
};

// Several requests at once, in as many threads as `in_flight`; results in the order of the requests.
std::vector<Result<Exchange>> chat_many(Model& model, std::span<const ChatRequest> requests, int in_flight);

struct ModelLimits {
  double max_usd = 0;             // 0: none; checked before a request for its estimate and its longest answer
  std::int64_t max_tokens = 0;    // 0: none; of prompts and answers together
  int in_flight = 0;              // requests at once; 0: as the configuration file says, else 4
  int attempts = 6;               // for one request, the first included
  int continuations = 3;          // of an answer that was cut off by its length; 0: it stays cut off
  int answer_tokens = 4096;       // where a request says nothing
  int answer_bytes = 128 * 1024;  // a longer answer is cut off as an error
  double connect_seconds = 15;
  double idle_seconds = 180;      // without a byte
  double total_seconds = 1200;    // one attempt
  double backoff_seconds = 1;     // the first wait; doubled each time, with jitter
  double patience_seconds = 120;  // the longest wait that is accepted, also of Retry-After
};

struct ModelOptions {
  std::string model;       // "local", or a provider's name for it; empty: from KERNELWRIGHT_MODEL or the configuration file
  std::string base_url;    // empty: likewise, else the provider's own
  std::string protocol;    // openai or anthropic; empty: likewise, else by the model's name
  int context_tokens = 0;  // 0: from the configuration or the table in knowledge/models
  ModelLimits limits;
  std::string record_file;                         // JSON lines, appended to; empty: none
  std::string replay_file;                         // answers come from here, and no model is opened
  std::function<void(std::string_view)> progress;  // what is being waited for; may be called from several threads
  const std::atomic<bool>* cancelled = nullptr;    // once true, waits end and chat gives an Error
};

// An Error here is the user's to mend: no model named, no key, a configuration file that others can read, ...
Result<std::unique_ptr<Model>> open_model(const ModelOptions& options);

}  // namespace kw
