#include "search/refine.h"

#include <fmt/format.h>

#include <algorithm>

namespace kw {

namespace {

constexpr int kTriesOfAStep = 2;   // what gained nothing once may gain something after other changes
constexpr int kPatience = 8;       // steps in a row without a gain
constexpr double kWorthAStep = 0;  // the least gain, at its most hopeful, for which a step is tried
constexpr int kGlances = 12;

// Findings are sentences; the levers that could help stand in them by name.
std::vector<std::string> levers_named(const std::vector<std::string>& findings) {
  std::vector<std::string> named;
  for (const std::string& finding : findings) {
    std::string word;
    for (const char letter : finding + " ") {
      if ((letter >= 'a' && letter <= 'z') || letter == '_') {
        word += letter;
        continue;
      }
      if (std::find(levers().begin(), levers().end(), word) != levers().end() &&
          std::find(named.begin(), named.end(), word) == named.end())
        named.push_back(word);
      word.clear();
    }
  }
  return named;
}

}  // namespace

Refine::Refine(SearchContext context) : bench_(std::move(context)) {}

bool Refine::propose(const Genes& genes, const std::string& origin) {
  std::vector<std::int64_t> parents;
  if (current_) parents.push_back(outcome_.index);
  auto order = bench_.order(genes, current_ ? current_->proposal.knobs : KnobValues{}, origin, parents);
  if (!order) return false;
  if (current_) order->knob_gain = order->proposal.knobs == current_->proposal.knobs ? current_->knob_gain : 0;
  order->proposal.generation = steps_;
  orders_.push_back(std::move(*order));
  return true;
}

std::vector<Proposal> Refine::ask() {
  orders_.clear();
  while (orders_.empty() && stage_ != Stage::done) {
    switch (stage_) {
      case Stage::plain:
        ask_plain();
        break;
      case Stage::structure:
        ask_structure();
        break;
      case Stage::knobs:
        ask_knobs();
        break;
      case Stage::look:
        ask_look();
        break;
      case Stage::profile:
        ask_profile();
        break;
      case Stage::done:
        break;
    }
  }
  std::vector<Proposal> proposals;
  for (const Order& order : orders_) proposals.push_back(order.proposal);
  return proposals;
}

void Refine::ask_plain() {
  stage_ = Stage::structure;
  propose({}, "seed");
}

// Strategies that are not there as additions, those that are there as removals; the most promising first.
std::vector<int> Refine::steps_by_belief() const {
  const Notebook& notebook = bench_.notebook();
  const Genes here = current_ ? current_->draft->claims : Genes{};
  std::vector<std::pair<double, int>> worth;
  for (int gene = 0; gene < bench_.catalogue().size(); ++gene) {
    const auto tries = tries_.find(gene);
    if (tried_here_.contains(gene) || (tries != tries_.end() && tries->second >= kTriesOfAStep)) continue;
    const bool removal = contains(here, gene);
    const double gain = notebook.gain(here, gene) * (removal ? -1 : 1);
    const double doubt = removal ? 0 : notebook.effects()[static_cast<std::size_t>(gene)].deviation;
    const Genes changed = removal ? bench_.catalogue().without(here, gene) : bench_.catalogue().with(here, gene);
    const double hopeful = gain + (tries == tries_.end() ? doubt : 0);
    if (hopeful > kWorthAStep) worth.emplace_back(-(1 - notebook.risk(changed)) * gain, gene);
  }
  std::sort(worth.begin(), worth.end());
  std::vector<int> steps;
  for (const auto& [gain, gene] : worth) steps.push_back(gene);
  return steps;
}

void Refine::ask_structure() {
  const Genes here = current_ ? current_->draft->claims : Genes{};
  if (without_gain_ < kPatience)
    for (const int gene : steps_by_belief()) {
      if (static_cast<int>(orders_.size()) == bench_.context().batch) break;
      ++tries_[gene];
      tried_here_.insert(gene);
      propose(contains(here, gene) ? bench_.catalogue().without(here, gene) : bench_.catalogue().with(here, gene), "structure");
    }
  if (orders_.empty()) stage_ = Stage::knobs;
}

void Refine::ask_knobs() {
  const bool worth_it = current_ && outcome_.score.passed && improved_since_tuning_ && current_->draft->space.points() >= 2;
  if (!tuning_ && worth_it)
    tuning_ = std::make_unique<TuningSession>(bench_, *current_, outcome_, kGlances, Random(bench_.context().seed + tunings_++));
  if (tuning_) orders_ = tuning_->ask(bench_.context().batch);
  for (Order& order : orders_) order.proposal.generation = steps_;
  if (!orders_.empty()) return;
  improved_since_tuning_ = false;
  stage_ = looked_ ? Stage::done : Stage::look;
  if (!tuning_) return;
  const auto best = tuning_->best();
  const Order& order = best ? *best : tuning_->start();
  outcome_ = tuning_->outcome_of(order.point);
  current_ = order;
  tuning_.reset();
}

// A careful timing of the same kernel, for which a profile may be made.
void Refine::ask_look() {
  stage_ = Stage::profile;
  looked_ = true;
  without_gain_ = 0;
  tried_here_.clear();
  if (!current_ || !outcome_.score.passed || !outcome_.findings.empty() || bench_.known(*current_->draft, current_->point, 2))
    return;
  orders_.push_back(Workbench::again(*current_, "profile", outcome_.index, 2));
  orders_.back().proposal.generation = steps_;
}

std::vector<int> Refine::called_for() const {
  std::vector<int> genes;
  for (const std::string& lever : levers_named(outcome_.findings)) {
    std::vector<std::pair<double, int>> worth;
    for (int gene = 0; gene < bench_.catalogue().size(); ++gene)
      if (bench_.catalogue()[gene].lever == lever && !contains(current_->draft->claims, gene) && !tried_here_.contains(gene))
        worth.emplace_back(-bench_.notebook().gain(current_->draft->claims, gene), gene);
    std::sort(worth.begin(), worth.end());
    for (const auto& [gain, gene] : worth) genes.push_back(gene);
  }
  return genes;
}

void Refine::ask_profile() {
  if (current_ && without_gain_ < kPatience) {
    const std::vector<int> genes = called_for();
    const Genes& here = current_->draft->claims;
    for (std::size_t i = 0; i < genes.size() && static_cast<int>(orders_.size()) < bench_.context().batch; ++i) {
      tried_here_.insert(genes[i]);
      if (propose(bench_.catalogue().with(here, genes[i]), "profile")) continue;
      // Alone it has been tried: together with the next one that is called for it may pay.
      if (i + 1 < genes.size()) propose(bench_.catalogue().with(bench_.catalogue().with(here, genes[i]), genes[i + 1]), "profile");
    }
  }
  if (orders_.empty()) stage_ = Stage::knobs;
}

void Refine::accept(const Order& order, const Outcome& outcome) {
  current_ = order;
  outcome_ = outcome;
  tried_here_.clear();
  without_gain_ = 0;
  improved_since_tuning_ = true;
  ++steps_;
}

void Refine::tell(const std::vector<Individual>& outcomes) {
  const std::size_t told = std::min(outcomes.size(), orders_.size());
  std::optional<std::size_t> best;
  Outcome best_outcome;
  for (std::size_t i = 0; i < told; ++i) {
    const Outcome outcome = bench_.note(orders_[i], outcomes[i]);
    if (tuning_) {
      tuning_->tell(orders_[i], outcome);
    } else if (orders_[i].proposal.effort == 2) {  // the current kernel, looked at closely
      if (outcome.score.passed) outcome_ = outcome;
    } else if (!current_) {
      accept(orders_[i], outcome);
    } else {
      ++without_gain_;
      if (outcome.duplicate || !beats(outcome.score, best ? best_outcome.score : outcome_.score)) continue;
      best = i;
      best_outcome = outcome;
    }
  }
  if (best) accept(orders_[*best], best_outcome);
}

std::string Refine::phase() const {
  switch (stage_) {
    case Stage::plain:
      return "plain";
    case Stage::structure:
      return fmt::format("structure, step {}", steps_);
    case Stage::knobs:
      return "knobs";
    case Stage::look:
    case Stage::profile:
      return "profile";
    case Stage::done:
      return "done";
  }
  return "done";
}

}  // namespace kw
