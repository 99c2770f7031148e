// Which strategy for one kind of machine is the counterpart of which for another, from knowledge/migration/counterparts.json.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "strategy/pool.h"

namespace kw {

class Counterparts {
 public:
  // An error names a strategy that is not in the pool.
  static Result<Counterparts> load(const StrategyPool& pool);

  // For the other target; a strategy is its own counterpart where the targets are the same.
  [[nodiscard]] std::vector<std::string> of(const Strategy& strategy, std::string_view target) const;
  // Why a strategy has none; empty where nothing is known.
  [[nodiscard]] std::string why_none(const std::string& id) const;

 private:
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> pairs_;  // both ways: target and strategy
  std::map<std::string, std::string> none_;
};

}  // namespace kw
