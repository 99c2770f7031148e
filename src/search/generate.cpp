#include "search/generate.h"

#include <fmt/format.h>

#include <algorithm>

namespace kw {

Generate::Generate(SearchContext context) : bench_(std::move(context)), next_(bench_.catalogue().together(bench_.promising())) {}

std::vector<Proposal> Generate::ask() {
  orders_.clear();
  while (!found_ && next_ && orders_.empty()) {
    if (auto order = bench_.order(*next_, {}, attempt_ == 0 ? "seed" : "structure", {})) {
      order->proposal.generation = attempt_++;
      orders_.push_back(std::move(*order));
    } else {
      next_ = next_->empty() ? std::nullopt : std::optional(simpler(*next_));
    }
  }
  std::vector<Proposal> proposals;
  for (const Order& order : orders_) proposals.push_back(order.proposal);
  return proposals;
}

void Generate::tell(const std::vector<Individual>& outcomes) {
  for (std::size_t i = 0; i < std::min(outcomes.size(), orders_.size()); ++i) {
    bench_.note(orders_[i], outcomes[i]);
    found_ |= outcomes[i].passed();
  }
  if (!found_ && next_ && !outcomes.empty()) next_ = next_->empty() ? std::nullopt : std::optional(simpler(*next_));
}

// Half of them: those that are believed in most for what they risk.
Genes Generate::simpler(const Genes& genes) const {
  const Notebook& notebook = bench_.notebook();
  std::vector<std::pair<double, int>> worth;
  for (const int gene : genes)
    worth.emplace_back(-notebook.effects()[static_cast<std::size_t>(gene)].mean * (1 - notebook.risk({gene})), gene);
  std::sort(worth.begin(), worth.end());
  std::vector<int> kept;
  for (std::size_t i = 0; i < genes.size() / 2; ++i) kept.push_back(worth[i].second);
  const Genes fewer = bench_.catalogue().together(kept);
  return fewer.size() < genes.size() ? fewer : bench_.catalogue().without(genes, worth.back().second);
}

std::string Generate::phase() const { return found_ ? "done" : fmt::format("attempt {}", attempt_); }

}  // namespace kw
