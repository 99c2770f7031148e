#include "agent/desk.h"

#include <algorithm>

#include <fmt/format.h>

namespace kw {
namespace {

constexpr int kReserve = 64;               // tokens for what a server adds around messages
constexpr std::size_t kQuotedBack = 6000;  // bytes of a bad answer that the model sees again

// What the model is told about an answer that cannot be used.
std::string complaint(const Fault& fault, const std::string& again) {
  return fmt::format("Your answer cannot be used ({}):\n{}\n\n{}", name_of(fault.kind), quoted_lines(fault.detail), again);
}

}  // namespace

void Desk::note(AnswerFault fault) { faults_.emplace_back(name_of(fault)); }
void Desk::note(const std::vector<AnswerFault>& faults) {
  for (const AnswerFault fault : faults) note(fault);
}

std::vector<std::string> Desk::take_faults() { return std::exchange(faults_, {}); }
std::vector<std::string> Desk::take_left_out() { return std::exchange(left_out_, {}); }

Result<Exchange> Desk::chat(const Question& question, std::vector<ChatMessage> messages, int answer_tokens) {
  ChatRequest request;
  request.purpose = question.purpose.empty() ? question.role : question.purpose;
  request.messages = std::move(messages);
  request.max_tokens = answer_tokens;
  request.want_json = question.json;
  request.seed = question.seed;
  auto exchange = model_.chat(request);
  if (!exchange) broken_ = exchange.error();
  return exchange;
}

std::optional<Fault> Desk::ask(const Question& question, const Reader& read) {
  const auto fail = [&](AnswerFault kind, std::string detail) {
    note(kind);
    return Fault{kind, std::move(detail)};
  };
  const auto made = library_.prompt(question.role, compact());
  if (!made) return fail(AnswerFault::no_answer, made.error().message);
  const int context = model_.context_tokens();
  const int answer_tokens = std::min(question.answer_tokens, context / 3);
  const auto prompt = (*made)->fill(question.values, context - answer_tokens - kReserve);
  if (!prompt) return fail(AnswerFault::no_answer, prompt.error().message);
  for (const std::string& name : prompt->left_out) left_out_.push_back(question.role + ": " + name);

  std::vector<ChatMessage> messages = prompt->messages;
  for (int round = 0;; ++round) {
    const auto exchange = chat(question, messages, answer_tokens);
    if (!exchange) return fail(AnswerFault::no_answer, exchange.error().message);
    std::optional<Fault> fault;
    if (exchange->finish == "error" && exchange->answer.empty())
      fault = Fault{AnswerFault::no_answer, exchange->error};
    else
      fault = read(*exchange);
    if (!fault) return std::nullopt;
    note(fault->kind);
    if (round == 1 || fault->kind == AnswerFault::no_answer) return fault;
    // One round to mend it: the answer, as far as there is room for it, and what is wrong with it.
    std::string before = plain_answer(exchange->answer);
    if (before.size() > kQuotedBack) before = before.substr(0, kQuotedBack) + "\n[clipped]";
    const int room = context - answer_tokens - kReserve - prompt->tokens;
    const std::string words = complaint(*fault, question.again);
    if (before.find_first_not_of(" \n\t") == std::string::npos || estimated_tokens(before) + estimated_tokens(words) > room)
      before = "[an answer that cannot be used]";
    if (estimated_tokens(words) + 20 > room) return fault;
    messages = prompt->messages;
    messages.push_back({"assistant", before});
    messages.push_back({"user", words});
  }
}

}  // namespace kw
