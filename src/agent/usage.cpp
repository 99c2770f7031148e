#include "agent/usage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw {
namespace {

void add_to(RoleUse& use, const Exchange& exchange) {
  ++use.exchanges;
  use.input_tokens += exchange.input_tokens;
  use.output_tokens += exchange.output_tokens;
  use.seconds += exchange.seconds;
  use.usd += exchange.usd;
}

Json json_of_role(const RoleUse& use) {
  return {{"exchanges", use.exchanges},
          {"input_tokens", use.input_tokens},
          {"output_tokens", use.output_tokens},
          {"seconds", use.seconds},
          {"usd", use.usd}};
}

std::string counted(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// "3 exchanges, 912 + 111 tokens, 71.2 s, $0.0012".
std::string spent_text(const RoleUse& use) {
  return fmt::format("{}, {} + {} tokens, {:.1f} s, {}", counted(use.exchanges, "exchange"), use.input_tokens, use.output_tokens,
                     use.seconds, use.usd > 0 ? fmt::format("${:.4f}", use.usd) : "no cost");
}

}  // namespace

ModelUse model_use(const std::string& model, const std::vector<Exchange>& exchanges, const std::vector<Individual>& individuals) {
  ModelUse use;
  use.model = model;
  for (const Exchange& exchange : exchanges) {
    add_to(use.roles[exchange.purpose.substr(0, exchange.purpose.find('/'))], exchange);
    add_to(use.all, exchange);
  }
  for (const Individual& each : individuals) {
    for (const std::string& fault : each.faults) ++use.faults[fault];
    for (const Strategy& strategy : each.invented) use.invented.push_back(strategy.id);
    if (each.proposal.author.empty() || each.proposal.origin == "knobs") continue;
    ++use.kernels;
    if (!each.passed()) continue;
    ++use.passed;
    if (each.proposal.task == "repair") ++use.repaired;
  }
  return use;
}

Json json_of(const ModelUse& use) {
  Json roles = Json::object();
  for (const auto& [name, role] : use.roles) roles[name] = json_of_role(role);
  return {{"model", use.model},     {"roles", std::move(roles)}, {"all", json_of_role(use.all)}, {"faults", use.faults},
          {"kernels", use.kernels}, {"passed", use.passed},      {"repaired", use.repaired},     {"invented", use.invented}};
}

std::string text_of(const ModelUse& use) {
  if (use.model.empty()) return "";
  std::string text = fmt::format("{:<11} {}: {}, {} passed, {} of them repaired; {}\n", "model", use.model,
                                 counted(use.kernels, "kernel"), use.passed, use.repaired, spent_text(use.all));
  for (const auto& [name, role] : use.roles) text += fmt::format("  {:<11} {}\n", name, spent_text(role));
  if (!use.faults.empty()) {
    std::vector<std::string> faults;
    for (const auto& [name, count] : use.faults) faults.push_back(fmt::format("{} {}", name, count));
    text += fmt::format("  {:<11} {}\n", "faults", fmt::join(faults, ", "));
  }
  if (!use.invented.empty()) text += fmt::format("  {:<11} {}\n", "ideas", fmt::join(use.invented, ", "));
  return text;
}

std::string exchange_text(const Exchange& exchange, std::size_t number) {
  std::string text = fmt::format("exchange {}: {} with {} ({}), {} + {} tokens, {:.1f} s, {}, finish {}\n", number,
                                 exchange.purpose, exchange.model, exchange.provider, exchange.input_tokens, exchange.output_tokens,
                                 exchange.seconds, counted(exchange.attempts, "attempt"), exchange.finish);
  if (!exchange.error.empty()) text += fmt::format("error: {}\n", exchange.error);
  for (const ChatMessage& message : exchange.messages) text += fmt::format("--- {}\n{}\n", message.role, message.content);
  return text + fmt::format("--- answer\n{}\n", exchange.answer);
}

std::string exchange_list(const std::vector<Exchange>& exchanges) {
  std::string text;
  for (std::size_t i = 0; i < exchanges.size(); ++i)
    text += fmt::format("{:>4}  {:<18} {:>6} + {:<6} tokens {:>7.1f} s  {}{}\n", i, exchanges[i].purpose, exchanges[i].input_tokens,
                        exchanges[i].output_tokens, exchanges[i].seconds, exchanges[i].finish,
                        exchanges[i].error.empty() ? "" : ": " + exchanges[i].error);
  return text.empty() ? "no exchange with a model\n" : text;
}

}  // namespace kw
