// A search without compilers and clocks: strategies with planted effects, pairs that help or hinder each other, combinations that
// fail, knobs, zones and noise. The best kernel is known, so a test can say how far a policy got.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "search/policy.h"
#include "strategy/ledger.h"
#include "strategy/pool.h"
#include "strategy/random.h"

namespace kw::testing {

class PlantedLandscape {
 public:
  double plain = std::log(0.3);                                  // of the kernel without strategies
  std::map<std::string, double> gains;                           // logarithms
  std::map<std::string, std::map<std::string, double>> in_zone;  // zone -> strategy -> what it gives there instead
  std::map<std::set<std::string>, double> together;              // more, where all of these are there
  std::vector<std::set<std::string>> failing;
  std::set<std::string> without_code;                                 // claimed, and yet the same machine code
  std::map<std::string, std::map<std::int64_t, double>> knob_gains;   // of values; what is not there gives 0
  std::map<std::string, std::vector<std::string>> findings_by_lever;  // lever -> findings while no strategy of it is there
  std::vector<std::string> constraints;                               // among knobs of one strategy
  double noise = 0.01;
  std::string zone = "compute";

  Strategy& add(const std::string& id, double gain, double predicts = 1.2) {
    Strategy strategy;
    strategy.id = strategy.name = strategy.applies = strategy.why = id;
    strategy.lever = "fuse";
    strategy.zones = {"compute"};
    strategy.predicts = predicts;
    gains[id] = gain;
    strategies_.push_back(strategy);
    return strategies_.back();
  }

  // After the last add().
  SearchContext context(std::uint64_t seed, int batch = 1, int islands = 1) {
    if (!pool_) {
      auto pool = StrategyPool::from(strategies_);
      EXPECT_TRUE(pool.ok()) << (pool.ok() ? "" : pool.error().message);
      pool_ = std::make_unique<StrategyPool>(std::move(pool).value());
    }
    SearchContext context;
    context.pool = pool_.get();
    context.usable = pool_->ids();
    context.zone = zone;
    context.workload_class = "matmul";
    context.seed = seed;
    context.batch = batch;
    context.islands = islands;
    context.write = [this](const std::vector<std::string>& ids) { return Result<Kernel>(write(ids)); };
    return context;
  }

  [[nodiscard]] Kernel write(const std::vector<std::string>& ids) const {
    Kernel kernel;
    kernel.claims = ids;
    std::sort(kernel.claims.begin(), kernel.claims.end());
    for (const std::string& id : kernel.claims) {
      kernel.source += id + "\n";
      for (const auto& [knob, values] : strategy(id).knobs) kernel.knobs.push_back({knob, values.front(), values});
    }
    for (const std::string& constraint : constraints)
      if (std::any_of(kernel.knobs.begin(), kernel.knobs.end(),
                      [&](const Knob& k) { return constraint.find(k.name) != std::string::npos; }))
        kernel.constraints.push_back(constraint);
    return kernel;
  }

  [[nodiscard]] bool fails(const std::set<std::string>& ids) const {
    return std::any_of(failing.begin(), failing.end(),
                       [&](const auto& bad) { return std::includes(ids.begin(), ids.end(), bad.begin(), bad.end()); });
  }

  // The logarithm of the speedup, without noise.
  [[nodiscard]] double truth(const std::set<std::string>& ids) const {
    double sum = plain;
    const auto here = in_zone.find(zone);
    for (const std::string& id : ids)
      sum += here != in_zone.end() && here->second.contains(id) ? here->second.at(id) : gains.at(id);
    for (const auto& [group, gain] : together)
      if (std::includes(ids.begin(), ids.end(), group.begin(), group.end())) sum += gain;
    return sum;
  }
  [[nodiscard]] double truth(const Proposal& proposal) const {
    double sum = truth(std::set<std::string>(proposal.strategies.begin(), proposal.strategies.end()));
    for (const Knob& knob : write(proposal.strategies).knobs) {
      const auto set = proposal.knobs.find(knob.name);
      sum += knob_gain(knob.name, set == proposal.knobs.end() ? knob.standard : std::stoll(set->second));
    }
    return sum;
  }

  // The best of all, by looking at every set (knobs without constraints).
  [[nodiscard]] double optimum() const {
    double best = plain;
    for (std::uint32_t bits = 0; bits < (1U << strategies_.size()); ++bits) {
      std::set<std::string> ids;
      for (std::size_t i = 0; i < strategies_.size(); ++i)
        if ((bits >> i & 1U) != 0) ids.insert(strategies_[i].id);
      if (!fits(ids) || fails(ids)) continue;
      double sum = truth(ids);
      for (const std::string& id : ids)
        for (const auto& [knob, values] : strategy(id).knobs) {
          double gain = -10;
          for (const std::int64_t value : values) gain = std::max(gain, knob_gain(knob, value));
          sum += gain;
        }
      best = std::max(best, sum);
    }
    return best;
  }

  Individual evaluate(const Proposal& proposal, std::uint64_t seed) {
    Individual individual;
    individual.index = static_cast<std::int64_t>(individuals.size());
    individual.proposal = proposal;
    individual.kernel = write(proposal.strategies);
    const std::set<std::string> ids(proposal.strategies.begin(), proposal.strategies.end());
    EXPECT_TRUE(fits(ids)) << "strategies that conflict or lack what they need";
    for (const std::string& id : ids) individual.strategies.push_back({id, Presence::present, ""});
    for (const auto& [lever, findings] : findings_by_lever)
      if (std::none_of(ids.begin(), ids.end(), [&, &lever = lever](const auto& id) { return strategy(id).lever == lever; }))
        individual.findings.insert(individual.findings.end(), findings.begin(), findings.end());
    for (const std::string& id : ids)
      if (!without_code.contains(id)) individual.assembly_hash += id + " ";
    for (const auto& [knob, value] : proposal.knobs) individual.assembly_hash += knob + "=" + value + " ";
    for (const Individual& earlier : individuals)
      if (individual.duplicate_of < 0 && earlier.assembly_hash == individual.assembly_hash &&
          earlier.proposal.effort >= proposal.effort)
        individual.duplicate_of = earlier.index;
    if (fails(ids)) {
      individual.verdict = Verdict::wrong;
    } else {
      Random random(seed * 7919 + static_cast<std::uint64_t>(individual.index));
      double normal = -6;
      for (int i = 0; i < 12; ++i) normal += random.uniform();
      const double deviation = noise * (proposal.effort == 0 ? 2 : proposal.effort == 1 ? 1 : 0.4);
      const double centre = truth(proposal) + deviation * normal;
      individual.verdict = Verdict::passed;
      individual.speedup = std::exp(centre);
      individual.interval = {std::exp(centre - 1.96 * deviation), std::exp(centre + 1.96 * deviation)};
    }
    individuals.push_back(individual);
    return individual;
  }

  // Asks and evaluates until so many kernels have been tried, one is as good as the goal, or nothing is left.
  void drive(Policy& policy, int evaluations, std::uint64_t seed = 1, double goal = 1e9) {
    while (static_cast<int>(individuals.size()) < evaluations) {
      std::vector<Individual> outcomes;
      for (const Proposal& proposal : policy.ask()) outcomes.push_back(evaluate(proposal, seed));
      if (outcomes.empty()) return;
      batches.push_back(outcomes);
      policy.tell(outcomes);
      for (const Individual& individual : outcomes)
        if (individual.passed() && truth(individual.proposal) >= goal) return;
    }
  }

  // How many kernels it took to come within this share of a speedup, the first 1; `evaluations` + 1 if it did not.
  [[nodiscard]] int reached(double optimum, double share = 0.95) const {
    for (const Individual& individual : individuals)
      if (individual.passed() && truth(individual.proposal) >= optimum + std::log(share))
        return static_cast<int>(individual.index) + 1;
    return static_cast<int>(individuals.size()) + 1;
  }

  void forget() {
    individuals.clear();
    batches.clear();
  }

  std::vector<Individual> individuals;
  std::vector<std::vector<Individual>> batches;

 private:
  [[nodiscard]] const Strategy& strategy(const std::string& id) const {
    return *std::find_if(strategies_.begin(), strategies_.end(), [&](const Strategy& s) { return s.id == id; });
  }
  [[nodiscard]] double knob_gain(const std::string& knob, std::int64_t value) const {
    const auto found = knob_gains.find(knob);
    if (found == knob_gains.end()) return 0;
    const auto gain = found->second.find(value);
    return gain == found->second.end() ? 0 : gain->second;
  }
  [[nodiscard]] bool fits(const std::set<std::string>& ids) const {
    for (const std::string& id : ids) {
      for (const std::string& other : strategy(id).conflicts)
        if (ids.contains(other)) return false;
      for (const std::string& need : strategy(id).needs)
        if (!ids.contains(need)) return false;
    }
    return true;
  }

  std::vector<Strategy> strategies_;
  std::unique_ptr<StrategyPool> pool_;
};

}  // namespace kw::testing
