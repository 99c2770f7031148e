// The policy `random`: strategies that fit together and allowed knobs, as they come. It learns nothing; it is what the others are
// compared with.
#pragma once

#include "search/workbench.h"
#include "strategy/random.h"

namespace kw {

class RandomPolicy : public Policy {
 public:
  explicit RandomPolicy(SearchContext context) : bench_(std::move(context)), random_(bench_.context().seed) {}
  std::vector<Proposal> ask() override;
  void tell(const std::vector<Individual>& outcomes) override;
  [[nodiscard]] std::string phase() const override { return "random"; }

 private:
  Workbench bench_;
  Random random_;
};

}  // namespace kw
