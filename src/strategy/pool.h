// The pool of strategies, read from knowledge/strategies: every file holds the strategies of one lever as an array of records,
// those for GPUs are in the folder gpu. A pool that was loaded is sound: every word in it is known, every pattern and condition can
// be read. It never changes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "record/strategy.h"

namespace kw {

class StrategyPool {
 public:
  // Every *.json of the folder and of its folder gpu. An error names the file and the strategy.
  static Result<StrategyPool> load(const fs::path& folder);
  // The project's own: knowledge/strategies below install_root().
  static Result<StrategyPool> load_own();
  static Result<StrategyPool> from(std::vector<Strategy> strategies);  // the same checks, without files

  [[nodiscard]] const Strategy* find(std::string_view id) const;                  // null where there is none
  [[nodiscard]] const std::vector<Strategy>& all() const { return strategies_; }  // sorted by id
  [[nodiscard]] std::vector<std::string> ids(std::string_view target = "cpu") const;
  [[nodiscard]] bool conflict(std::string_view a, std::string_view b) const;  // either names the other

  // Ids of the available strategies (those that the coder at hand can realise) whose conditions and classes fit.
  // The zone does not exclude, for it is a belief about what pays: strategies of the zone come first, each part by falling
  // prediction. `workload_class` may name several ("matmul + softmax"): one that fits is enough. What needs a strategy that does
  // not fit is left out.
  [[nodiscard]] std::vector<std::string> applicable(const Features& features, std::string_view zone,
                                                    std::string_view workload_class,
                                                    const std::vector<std::string>& available) const;

 private:
  struct Origin {
    std::string file;
    Strategy strategy;
  };
  static Result<StrategyPool> checked(std::vector<Origin> read);
  static Status check(const Origin& origin);

  std::vector<Strategy> strategies_;
};

// Whether a strategy should pay in this zone.
bool pays_in(const Strategy& strategy, std::string_view zone);

// "matmul + softmax" -> "matmul": the class that a workload is filed under.
std::string main_class(std::string_view workload_class);

}  // namespace kw
