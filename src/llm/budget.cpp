#include "llm/budget.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace kw::llm {

Status Budget::set_aside(std::int64_t input_tokens, std::int64_t output_tokens) {
  const std::scoped_lock lock(mutex_);
  const std::int64_t input = input_ + input_aside_ + input_tokens;
  const std::int64_t output = output_ + output_aside_ + output_tokens;
  const bool too_many = max_tokens_ > 0 && input + output > max_tokens_;
  const bool too_dear = max_usd_ > 0 && price_.of(input, output) > max_usd_;
  if (too_many || too_dear) {
    refused_ = true;
    const std::string used = fmt::format("{} tokens and ${:.4f} are used", input_ + output_, price_.of(input_, output_));
    if (too_many)
      return bad_input(fmt::format("the next request may need {} tokens, which would pass --max-tokens {} ({})",
                                   input_tokens + output_tokens, max_tokens_, used),
                       "raise --max-tokens to go on with the model");
    return bad_input(fmt::format("the next request may cost ${:.4f}, which would pass --max-usd {:g} ({})",
                                 price_.of(input_tokens, output_tokens), max_usd_, used),
                     "raise --max-usd to go on with the model");
  }
  input_aside_ += input_tokens;
  output_aside_ += output_tokens;
  return {};
}

double Budget::settle(std::int64_t input_aside, std::int64_t output_aside, std::int64_t input_tokens, std::int64_t output_tokens) {
  const std::scoped_lock lock(mutex_);
  input_aside_ -= input_aside;
  output_aside_ -= output_aside;
  input_ += input_tokens;
  output_ += output_tokens;
  return price_.of(input_tokens, output_tokens);
}

std::int64_t Budget::input_tokens() const {
  const std::scoped_lock lock(mutex_);
  return input_;
}
std::int64_t Budget::output_tokens() const {
  const std::scoped_lock lock(mutex_);
  return output_;
}
double Budget::usd() const {
  const std::scoped_lock lock(mutex_);
  return price_.of(input_, output_);
}
bool Budget::refused() const {
  const std::scoped_lock lock(mutex_);
  return refused_;
}

std::int64_t TokenEstimate::tokens(std::int64_t bytes) const {
  const std::scoped_lock lock(mutex_);
  constexpr double kTemplate = 32;  // the words that a chat template puts around messages
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(bytes) * tokens_per_byte_ + kTemplate));
}

void TokenEstimate::learn(std::int64_t bytes, std::int64_t tokens) {
  constexpr std::int64_t kTelling = 400;  // in shorter texts the template's own tokens outweigh the text's
  if (bytes < kTelling) return;
  const std::scoped_lock lock(mutex_);
  tokens_per_byte_ = std::max(tokens_per_byte_, 1.05 * static_cast<double>(tokens) / static_cast<double>(bytes));
}

}  // namespace kw::llm
