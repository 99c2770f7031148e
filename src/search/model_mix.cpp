#include "search/model_mix.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agent/conductor.h"
#include "search/lineage.h"

namespace kw {
namespace {

constexpr std::string_view kPlaybookAuthor = "playbook";
constexpr int kUnansweredInARow = 3;  // after which the model is left alone
constexpr int kIdeasWithoutGain = 8;  // after which it has nothing more to give, once the policy has nothing either
constexpr int kModelGlances = 8;
constexpr std::size_t kMostStrategies = 8;

}  // namespace

ModelMix::ModelMix(std::unique_ptr<Policy> inner, MixOptions options) : inner_(std::move(inner)), options_(std::move(options)) {}

std::optional<std::string> ModelMix::model_is_off() const {
  if (unanswered_ >= kUnansweredInARow) return fmt::format("{} requests in a row got no answer", unanswered_);
  if (inner_done_ && without_gain_ >= kIdeasWithoutGain) return fmt::format("its last {} ideas gained nothing", without_gain_);
  return std::nullopt;
}

std::vector<Proposal> ModelMix::ask() {
  asked_.clear();
  trials_.clear();
  if (options_.until_correct && best_.passed) return {};
  const std::string playbook(kPlaybookAuthor);
  const std::vector<std::string> order =
      options_.model_first ? std::vector{options_.model, playbook} : std::vector{playbook, options_.model};
  model_turn_ = !model_is_off() && (inner_done_ || bandit_.choose(order) == options_.model);
  if (model_turn_) asked_ = ask_model();
  if (!asked_.empty()) return asked_;
  model_turn_ = false;
  if (!inner_done_) asked_ = ask_inner();
  if (asked_.empty() && !model_is_off()) {
    asked_ = ask_model();
    model_turn_ = !asked_.empty();
  }
  return asked_;
}

std::vector<Proposal> ModelMix::ask_inner() {
  std::vector<Proposal> proposals = inner_->ask();
  inner_done_ = proposals.empty();
  return proposals;
}

Proposal ModelMix::proposal_of(std::string task, std::vector<std::int64_t> parents, std::vector<std::string> strategies) const {
  Proposal proposal;
  proposal.origin = "model";
  proposal.author = options_.model;
  proposal.task = std::move(task);
  proposal.parents = std::move(parents);
  std::sort(strategies.begin(), strategies.end());
  proposal.strategies = std::move(strategies);
  proposal.generation = ideas_;
  return proposal;
}

// Knobs first where a kernel of the model leads, then attempts that go on, then something new.
std::vector<Proposal> ModelMix::ask_model() {
  std::vector<Proposal> proposals = ask_tuner();
  if (!proposals.empty()) return proposals;
  std::vector<std::int64_t> open;
  for (const std::int64_t root : std::exchange(open_, {}))
    if (auto proposal = next_attempt(root)) {
      open.push_back(root);
      proposals.push_back(std::move(*proposal));
    }
  open_ = std::move(open);
  while (static_cast<int>(proposals.size()) < options_.batch) proposals.push_back(next_idea());
  return proposals;
}

std::vector<Proposal> ModelMix::ask_tuner() {
  if (!tuner_) {
    const auto leaders = best_first(false);
    if (leaders.empty() || leaders.front()->kernel.author != options_.model || leaders.front()->proposal.origin == "knobs")
      return {};
    const Individual& leader = *leaders.front();
    const auto space = KnobSpace::of(leader.kernel);
    if (!space || space->points() < 2 || !tuned_.insert(leader.index).second) return {};
    tuned_kernel_ = leader.index;
    tuner_.emplace(*space, space->nearest(leader.proposal.knobs), score_of(leader), kModelGlances, knob_memory_,
                   Random(options_.seed + static_cast<std::uint64_t>(leader.index)));
  }
  trials_ = tuner_->ask(std::max(2, options_.batch));
  std::vector<Proposal> proposals;
  for (const KnobTrial& trial : trials_) {
    const Individual& kernel = told_[static_cast<std::size_t>(tuned_kernel_)];
    Proposal proposal = proposal_of("knobs", {tuned_kernel_}, kernel.proposal.strategies);
    proposal.origin = "knobs";
    proposal.knobs = tuner_->space().values(trial.point);
    proposal.effort = trial.effort;
    proposals.push_back(std::move(proposal));
  }
  if (proposals.empty()) tuner_.reset();
  return proposals;
}

// What the conductor's rules say of a lineage; nothing where it ends.
std::optional<Proposal> ModelMix::next_attempt(std::int64_t root) {
  const auto lineage = lineage_of(told_, root);
  const Conduct conduct = decide_by_rules(lineage);
  const std::int64_t last = lineage.back()->index;
  const std::vector<std::string>& strategies = lineage.front()->proposal.strategies;
  switch (conduct.decision) {
    case Decision::repair:
      return proposal_of("repair", {conduct.from}, strategies);
    case Decision::undecided:
      return proposal_of("decide", {conduct.from}, strategies);
    case Decision::regenerate: {
      std::vector<std::int64_t> parents{last};
      for (const std::int64_t parent : lineage.front()->proposal.parents) parents.push_back(parent);
      return proposal_of("regenerate", parents, strategies);
    }
    case Decision::drop:
      break;
  }
  return std::nullopt;
}

std::vector<const Individual*> ModelMix::best_first(bool own_only) const {
  std::vector<const Individual*> order;
  for (const Individual& each : told_)
    if (each.passed() && each.speedup > 0 && each.duplicate_of < 0 && (!own_only || each.kernel.author == options_.model))
      order.push_back(&each);
  std::stable_sort(order.begin(), order.end(), [](const Individual* a, const Individual* b) { return a->speedup > b->speedup; });
  return order;
}

// One more strategy than the parent has: the most promising that has not been tried with it.
Proposal ModelMix::begin_translation(const Individual* parent) {
  std::vector<std::string> has;
  std::vector<std::int64_t> parents;
  if (parent != nullptr) {
    has = parent->real_strategies();
    parents.push_back(parent->index);
  }
  if (has.size() > kMostStrategies) has.resize(kMostStrategies);
  for (const std::string& id : options_.promising) {
    const bool there = std::find(has.begin(), has.end(), id) != has.end();
    const bool excluded =
        std::any_of(has.begin(), has.end(), [&](const std::string& other) { return options_.conflict(id, other); });
    if (there || excluded || !begun_.insert(fmt::format("{} + {}", fmt::join(has, " "), id)).second) continue;
    has.push_back(id);
    for (const std::string& need : options_.needs(id))
      if (std::find(has.begin(), has.end(), need) == has.end()) has.push_back(need);
    return proposal_of("translate", parents, has);
  }
  return proposal_of("invent", parents, {});
}

// The simplest kernel first; then known strategies, new ones and crossovers by turns.
Proposal ModelMix::next_idea() {
  const int turn = ideas_++;
  const auto own = best_first(true), all = best_first(false);
  const Individual* mine = own.empty() ? nullptr : own.front();
  const Individual* leader = all.empty() ? nullptr : all.front();
  if (turn == 0 || (mine == nullptr && turn % 2 == 0)) return proposal_of("translate", {}, {});
  switch (turn % 4) {
    case 1:
      return begin_translation(mine != nullptr ? mine : leader);
    case 2:
      return proposal_of("invent", leader == nullptr ? std::vector<std::int64_t>{} : std::vector{leader->index}, {});
    case 3:
      return begin_translation(leader);
    default:
      break;
  }
  // Of two kernels with different strategies, by different authors where there are such.
  const Individual* other = nullptr;
  for (const Individual* each : all)
    if (leader != nullptr && each != leader && each->real_strategies() != leader->real_strategies()) {
      if (other == nullptr || (other->kernel.author == leader->kernel.author && each->kernel.author != leader->kernel.author))
        other = each;
    }
  if (other == nullptr) return begin_translation(mine != nullptr ? mine : leader);
  return proposal_of("cross", {leader->index, other->index}, {});
}

void ModelMix::note_model(const Individual& individual) {
  const bool unanswered = individual.kernel.source.empty() && !individual.faults.empty() && individual.faults.back() == "no_answer";
  unanswered_ = unanswered ? unanswered_ + 1 : 0;
  if (individual.proposal.origin == "knobs") return;
  const std::int64_t root = lineage_root(told_, individual.index);
  const bool ends = individual.passed() || individual.proposal.task == "drop" ||
                    decide_by_rules(lineage_of(told_, root)).decision == Decision::drop;
  if (ends) {
    std::erase(open_, root);
    ++without_gain_;
  } else if (std::find(open_.begin(), open_.end(), root) == open_.end()) {
    open_.push_back(root);
  }
}

void ModelMix::tell(const std::vector<Individual>& outcomes) {
  const std::size_t count = std::min(outcomes.size(), asked_.size());
  double reward = 0;
  const Score before = best_;
  for (std::size_t i = 0; i < count; ++i) {
    reward = std::max(reward, reward_of(outcomes[i], before));
    told_.push_back(outcomes[i]);
    if (model_turn_ && i < trials_.size() && tuner_) tuner_->tell(trials_[i], score_of(outcomes[i]));
    if (model_turn_) note_model(outcomes[i]);
    if (beats(score_of(outcomes[i]), best_)) {
      best_ = score_of(outcomes[i]);
      without_gain_ = 0;
    }
  }
  if (count == 0) return;
  bandit_.earned(model_turn_ ? options_.model : std::string(kPlaybookAuthor), reward);
  if (!model_turn_) inner_->tell(outcomes);
}

std::string ModelMix::phase() const {
  if (!model_turn_ || asked_.empty()) return inner_->phase();
  return fmt::format("{}: {}", options_.model, asked_.front().task);
}

}  // namespace kw
