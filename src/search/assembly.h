// A problem of many layers in a search: what is known of each distinct sub-problem before any is tried, and the policy that puts
// what was found for them together. The searches on the sub-problems themselves are runs of their own.
#pragma once

#include <set>

#include "search/coder.h"
#include "search/policy.h"
#include "strategy/ledger.h"

namespace kw {

// The distinct sub-problems by falling share of the time; none: the problem is one piece.
std::vector<PartRecord> part_records(const Split& split, const Machine& machine, int threads);
// The same for a problem that may have no sub-problems, or none that the playbook can read.
std::vector<PartRecord> parts_of_problem(const ProblemDescription& problem, const Machine& machine, int threads);

struct PartPlan {
  const Part* part = nullptr;
  double share = 0;                   // of the time of all places together
  std::vector<std::string> standard;  // strategies that are believed in for it
};

// In order of falling share.
Result<std::vector<PartPlan>> plan_parts(const Split& split, const Machine& machine, int threads, const StrategyPool& pool,
                                         const Ledger& ledger);

// Of the run's limits; the rest is for putting together, verifying the whole and confirming it.
inline constexpr double kForParts = 0.6;

// What a sub-problem's search is given of the run's limits; nothing: too little to begin one.
std::optional<RunOptions> part_options(const RunOptions& whole, double share, double seconds_left, int evaluations_left);

// For a sub-problem that was not searched: what was best for one of the same operations, or what is believed in.
PartChoice choice_without_search(const PartPlan& plan, const std::vector<PartPlan>& plans, const std::vector<PartChoice>& searched);

// Asks for kernels of these choices; where none passes, for simpler ones, and for the plain one at last.
class Assembly : public Policy {
 public:
  // `rounding`: strategies that round otherwise than plain sums, which are the first to be left out.
  Assembly(std::vector<std::vector<PartChoice>> kernels, std::set<std::string> rounding);
  std::vector<Proposal> ask() override;
  void tell(const std::vector<Individual>& outcomes) override;
  [[nodiscard]] std::string phase() const override { return "putting sub-problems together"; }

 private:
  std::vector<std::vector<PartChoice>> kernels_;  // to be tried, the next one first
  std::vector<PartChoice> safest_;
  std::set<std::string> rounding_;
  bool passed_ = false;
  bool simplified_ = false;
};

}  // namespace kw
