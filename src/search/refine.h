// The policy `refine`: one kernel, made better step by step. The plain kernel first, then one structural change at a time, then its
// knobs, and only when structure has stopped paying, changes that its profile calls for. A step that fails or gains nothing is
// taken back.
#pragma once

#include <map>
#include <memory>
#include <set>

#include "search/workbench.h"
#include "strategy/random.h"

namespace kw {

class Refine : public Policy {
 public:
  explicit Refine(SearchContext context);
  std::vector<Proposal> ask() override;
  void tell(const std::vector<Individual>& outcomes) override;
  [[nodiscard]] std::string phase() const override;

 private:
  enum class Stage { plain, structure, knobs, look, profile, done };
  void ask_plain();
  void ask_structure();
  void ask_knobs();
  void ask_look();
  void ask_profile();
  [[nodiscard]] std::vector<int> steps_by_belief() const;
  [[nodiscard]] std::vector<int> called_for() const;  // by the levers in the findings
  bool propose(const Genes& genes, const std::string& origin);
  void accept(const Order& order, const Outcome& outcome);

  Workbench bench_;
  Stage stage_ = Stage::plain;
  std::optional<Order> current_;
  Outcome outcome_;  // of the current kernel
  std::vector<Order> orders_;
  std::map<int, int> tries_;  // of each strategy, as a step
  std::set<int> tried_here_;  // from the current kernel
  std::unique_ptr<TuningSession> tuning_;
  int steps_ = 0, without_gain_ = 0, tunings_ = 0;
  bool improved_since_tuning_ = true;
  bool looked_ = false;
};

}  // namespace kw
