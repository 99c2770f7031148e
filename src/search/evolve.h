// The policy `evolve`: populations of strategy sets on islands. Strong seeds first, then mutations (one strategy more, less or
// another), crossovers and migrations, of which the run's beliefs pick the most promising; the leader's knobs are tuned in between.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "search/variation.h"
#include "search/workbench.h"
#include "strategy/random.h"

namespace kw {

class Evolve : public Policy {
 public:
  struct Member {
    Order order;
    Outcome outcome;
    int tunings = 0;  // of its knobs
    int home = 0;     // the island where it was born
  };

  explicit Evolve(SearchContext context);
  std::vector<Proposal> ask() override;
  void tell(const std::vector<Individual>& outcomes) override;
  [[nodiscard]] std::string phase() const override;

  // Each sorted by falling speed, no two members with the same strategies.
  [[nodiscard]] const std::vector<std::vector<Member>>& islands() const { return islands_; }

 private:
  using Population = std::vector<Member>;
  struct Seed {
    Genes genes;
    KnobValues knobs;
    std::string origin;
  };
  struct Child {
    Genes genes;
    std::string origin;
    const Member* parent = nullptr;  // whose knobs it takes over
    std::vector<std::int64_t> parents;
    double improvement = 0, worth = 0;  // that it should bring; by what it is chosen
  };
  void plan_seeds();
  [[nodiscard]] Genes sampled();
  template <typename Draw>
  [[nodiscard]] Genes least_suspicious(const Draw& draw) const;
  void ask_seeds();
  void ask_tuner();
  bool ask_generation();
  [[nodiscard]] std::vector<Child> children_of(int island);
  [[nodiscard]] Genes toggled(const Genes& genes, int gene) const;
  [[nodiscard]] Genes climbed(Genes genes, const Notebook& expected, double level) const;
  [[nodiscard]] const Member& tournament(const Population& population);
  [[nodiscard]] std::optional<Order> order_of(const Child& child);
  [[nodiscard]] int leading_island() const;  // -1 while nothing has passed
  [[nodiscard]] bool tuning_is_due() const;
  [[nodiscard]] double hope_of_changes(const Member& leader) const;
  void begin_tuning(const Member& member, int glances);
  bool tune_further();
  void end_tuning();
  void enter(Population& population, Member member);
  void migrate();
  bool diversify();

  Workbench bench_;
  Variation variation_;
  Random random_;
  std::vector<Population> islands_;
  std::vector<Seed> seeds_;  // still to be proposed; the next one last
  std::unique_ptr<TuningSession> tuning_;
  std::vector<Order> orders_;  // of the last ask
  bool tuning_orders_ = false;
  int generation_ = 0, turn_ = 0, tunings_ = 0, restarts_ = 0, restarts_without_gain_ = 0, seeds_planned_ = 0;
  int since_gain_ = 0;    // kernels with new structure since the leader was last beaten
  int since_tuning_ = 0;  // and since knobs were last tuned
  double hope_ = 1;       // the largest improvement that the last generation expected
};

}  // namespace kw
