// A model behind HTTP: retries, waits, continues what was cut off, and stays within its limits.
#pragma once

#include <condition_variable>
#include <mutex>
#include <random>

#include "llm/budget.h"
#include "llm/retry.h"
#include "llm/settings.h"

namespace kw::llm {

struct Endpoint {
  std::string base_url;
  Secret key;
};

class RemoteModel : public Model {
 public:
  // `endpoint` is asked before each attempt: a server of our own may have to be started again. `settings.price` must be set where
  // its limits need one.
  RemoteModel(Settings settings, std::string provider_name, std::function<Result<Endpoint>()> endpoint,
              const ModelOptions& options);

  Result<Exchange> chat(const ChatRequest& request) override;
  [[nodiscard]] std::string name() const override { return settings_.model; }
  [[nodiscard]] int context_tokens() const override { return settings_.context_tokens; }
  [[nodiscard]] ModelUsage usage() const override;

 private:
  struct Attempt {
    Reply reply;
    Judgement judgement;
    Secret key;  // that it was made with
  };
  class Slot;

  Attempt attempt(const Endpoint& endpoint, const ChatRequest& request, int max_tokens, Exchange& exchange);
  Result<Attempt> ask(const ChatRequest& request, int max_tokens, Exchange& exchange);
  Status answer(const ChatRequest& request, Exchange& exchange);
  void judge_reply(const HttpResponse& response, const Status& stream, Attempt& attempt) const;
  Status wait_before_retry(const Judgement& judgement, int attempt, const std::string& purpose);
  Status wait(double seconds) const;
  [[nodiscard]] int longest_answer(const ChatRequest& request) const;
  void say(const std::string& text) const;
  [[nodiscard]] bool is_cancelled() const { return cancelled_ && *cancelled_; }

  const Settings settings_;
  const std::string provider_name_;
  const std::function<Result<Endpoint>()> endpoint_;
  const std::function<void(std::string_view)> progress_;
  const std::atomic<bool>* const cancelled_;
  Budget budget_;
  TokenEstimate estimate_;
  mutable std::mutex mutex_;
  std::condition_variable freed_;
  int in_flight_ = 0;
  std::int64_t exchanges_ = 0, faults_ = 0;
  TurnedDown turned_down_;
  std::mt19937_64 jitter_{std::random_device{}()};
};

}  // namespace kw::llm
