// A policy with a model beside it: every policy's own proposals and a model's, in one run. Who is next is a bandit over what
// authors have earned. Like any policy it is a pure function of what it was told: the model itself is asked later, when a proposal
// is carried out, and never for what is in the archive already.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>

#include "search/author_bandit.h"
#include "search/policy.h"
#include "search/tuner.h"

namespace kw {

struct MixOptions {
  std::string model;           // the author's name
  bool model_first = false;    // before the policy has had a turn
  bool until_correct = false;  // ends with the first kernel that passes
  int batch = 1;               // proposals of the model at a time
  std::uint64_t seed = 0;
  // Strategies that fit the problem, the most promising first.
  std::vector<std::string> promising;
  std::function<bool(const std::string&, const std::string&)> conflict;
  std::function<std::vector<std::string>(const std::string&)> needs;
};

class ModelMix : public Policy {
 public:
  ModelMix(std::unique_ptr<Policy> inner, MixOptions options);
  std::vector<Proposal> ask() override;
  void tell(const std::vector<Individual>& outcomes) override;
  [[nodiscard]] std::string phase() const override;

  [[nodiscard]] const AuthorBandit& bandit() const { return bandit_; }
  // Why the model is asked no more; nothing while it is.
  [[nodiscard]] std::optional<std::string> model_is_off() const;

 private:
  std::vector<Proposal> ask_inner();
  std::vector<Proposal> ask_model();
  std::vector<Proposal> ask_tuner();
  std::optional<Proposal> next_attempt(std::int64_t root);
  Proposal next_idea();
  Proposal begin_translation(const Individual* parent);
  [[nodiscard]] Proposal proposal_of(std::string task, std::vector<std::int64_t> parents,
                                     std::vector<std::string> strategies) const;
  [[nodiscard]] std::vector<const Individual*> best_first(bool own_only) const;
  void note_model(const Individual& individual);

  std::unique_ptr<Policy> inner_;
  MixOptions options_;
  AuthorBandit bandit_;
  std::vector<Individual> told_;
  Score best_;
  std::vector<Proposal> asked_;  // of the last ask
  bool model_turn_ = false, inner_done_ = false;
  std::vector<std::int64_t> open_;  // roots of lineages that go on
  std::set<std::string> begun_;     // ideas that were proposed
  int ideas_ = 0, unanswered_ = 0, without_gain_ = 0;
  std::set<std::int64_t> tuned_;
  KnobMemory knob_memory_;
  std::optional<Tuner> tuner_;
  std::int64_t tuned_kernel_ = -1;
  std::vector<KnobTrial> trials_;  // of the last ask, where it was the tuner's
};

}  // namespace kw
