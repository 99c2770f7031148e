// The ledger: per strategy, zone and workload class what was predicted and what was measured. It is made from entries and never
// changes them; where little was measured it leans on wider groups, and in the end on the prediction.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "record/strategy.h"
#include "strategy/pool.h"

namespace kw {

// What is to be expected of a strategy. Gains are logarithms of "times faster".
struct Belief {
  double predicted = 0;       // by the strategy itself; a quarter of it outside its zones
  double gain = 0;            // the measured mean, shrunk towards the prediction
  double spread = 0;          // how uncertain the gain is
  double fail_rate = 0;       // of kernels that it led to, shrunk towards few
  std::int64_t count = 0;     // measurements, in the narrowest group that has any
  std::int64_t failures = 0;  // in the same group
  double score = 0;  // upper confidence: what to sample by. Rarely tried strategies score above their gain, failing ones below
};

// One line of the printed ledger.
struct LedgerRow {
  std::string strategy, zone, workload_class;
  double predicted = 1;      // times faster
  double measured = 1;       // geometric mean; 1 where n is 0
  double low = 1, high = 1;  // roughly where the true mean is, nineteen times out of twenty
  std::int64_t n = 0, failures = 0;
};

class Ledger {
 public:
  Ledger() = default;
  explicit Ledger(const std::vector<LedgerEntry>& entries);

  // Every entry counts in three groups: (strategy, zone, class), (strategy, zone) and the strategy alone. Each group is shrunk
  // towards the wider one by a few pseudo-measurements, the widest towards the prediction.
  [[nodiscard]] Belief belief(const Strategy& strategy, std::string_view zone, std::string_view workload_class) const;
  [[nodiscard]] std::vector<LedgerRow> rows() const;  // one a (strategy, zone, class), sorted by these
  [[nodiscard]] bool empty() const { return groups_.empty(); }

 private:
  struct Sums {
    std::int64_t n = 0, failures = 0;
    double gains = 0, squares = 0;  // of logarithms
    double predicted = 0;           // sum of logarithms over all n + failures
  };
  using Key = std::array<std::string, 3>;  // strategy, zone, class; "" stands for all
  [[nodiscard]] const Sums* group(const Key& key) const;

  std::map<Key, Sums> groups_;
};

}  // namespace kw
