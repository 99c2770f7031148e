// The policy `generate`: the first correct kernel. The strongest that is believed in comes first, then simpler and simpler ones,
// the plain kernel last; it ends with the first that passes.
#pragma once

#include "search/workbench.h"

namespace kw {

class Generate : public Policy {
 public:
  explicit Generate(SearchContext context);
  std::vector<Proposal> ask() override;
  void tell(const std::vector<Individual>& outcomes) override;
  [[nodiscard]] std::string phase() const override;

 private:
  [[nodiscard]] Genes simpler(const Genes& genes) const;

  Workbench bench_;
  std::optional<Genes> next_;
  std::vector<Order> orders_;
  bool found_ = false;
  int attempt_ = 0;
};

}  // namespace kw
