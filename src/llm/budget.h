// Keeps a run within --max-usd and --max-tokens: what a request may cost is set aside before it is sent, what it did cost is taken
// when it is done. Several threads may ask at once.
#pragma once

#include <cstdint>
#include <mutex>

#include "base/result.h"
#include "llm/prices.h"

namespace kw::llm {

class Budget {
 public:
  Budget(double max_usd, std::int64_t max_tokens, Price price) : max_usd_(max_usd), max_tokens_(max_tokens), price_(price) {}

  // An error where a request of this size might pass a limit.
  Status set_aside(std::int64_t input_tokens, std::int64_t output_tokens);
  // Gives back what was set aside for a request and takes what it used; its cost.
  double settle(std::int64_t input_aside, std::int64_t output_aside, std::int64_t input_tokens, std::int64_t output_tokens);

  [[nodiscard]] std::int64_t input_tokens() const;
  [[nodiscard]] std::int64_t output_tokens() const;
  [[nodiscard]] double usd() const;
  [[nodiscard]] bool refused() const;

 private:
  const double max_usd_;
  const std::int64_t max_tokens_;
  const Price price_;
  mutable std::mutex mutex_;
  std::int64_t input_ = 0, output_ = 0;              // used
  std::int64_t input_aside_ = 0, output_aside_ = 0;  // of requests under way
  bool refused_ = false;
};

// How many tokens a text has at the most, for all one can tell without the model's own tokenizer: learnt from what providers
// report, never below a cautious start.
class TokenEstimate {
 public:
  [[nodiscard]] std::int64_t tokens(std::int64_t bytes) const;
  void learn(std::int64_t bytes, std::int64_t tokens);

 private:
  mutable std::mutex mutex_;
  double tokens_per_byte_ = 0.4;
};

}  // namespace kw::llm
