// A model for tests: answers what the test scripts, by purpose or in order, and keeps what it was asked.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "llm/model.h"

namespace kw::testing {

class ScriptedModel : public Model {
 public:
  explicit ScriptedModel(int context_tokens = 32000) : context_tokens_(context_tokens) {}

  // The next answer for this purpose; `finish` as in Exchange.
  void answer(const std::string& purpose, std::string text, std::string finish = "stop") {
    answers_[purpose].emplace_back(std::move(text), std::move(finish));
  }
  // The next request for this purpose is refused for good.
  void refuse(const std::string& purpose) { answers_[purpose].emplace_back("", "refused"); }

  Result<Exchange> chat(const ChatRequest& request) override {
    const std::lock_guard lock(mutex_);
    requests.push_back(request);
    auto& waiting = answers_[request.purpose];
    if (waiting.empty() || waiting.front().second == "refused") {
      if (!waiting.empty()) waiting.pop_front();
      return bad_input("the scripted model has no answer for " + request.purpose, "script one");
    }
    Exchange exchange;
    exchange.purpose = request.purpose;
    exchange.provider = "scripted";
    exchange.model = name();
    exchange.messages = request.messages;
    exchange.answer = waiting.front().first;
    exchange.finish = waiting.front().second;
    if (exchange.finish == "error") exchange.error = "the stream broke";
    exchange.input_tokens = 100;
    exchange.output_tokens = 10;
    exchange.attempts = 1;
    waiting.pop_front();
    return exchange;
  }
  [[nodiscard]] std::string name() const override { return "scripted"; }
  [[nodiscard]] int context_tokens() const override { return context_tokens_; }
  [[nodiscard]] ModelUsage usage() const override { return {}; }

  // Everything that was said in a request.
  [[nodiscard]] std::string text_of(std::size_t request) const {
    std::string text;
    for (const ChatMessage& message : requests.at(request).messages) text += message.content + "\n";
    return text;
  }

  std::vector<ChatRequest> requests;

 private:
  int context_tokens_;
  std::mutex mutex_;
  std::map<std::string, std::deque<std::pair<std::string, std::string>>> answers_;
};

}  // namespace kw::testing
