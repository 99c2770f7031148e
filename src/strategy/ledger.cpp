#include "strategy/ledger.h"

#include <algorithm>
#include <cmath>

namespace kw {
namespace {

constexpr double kPseudoCount = 3;      // measurements that a wider group, or the prediction, is worth
constexpr double kTypicalSpread = 0.3;  // of a single log gain: a factor of 1.35 either way
constexpr double kOutsideZone = 0.25;   // of the predicted gain is expected where a strategy should not pay
constexpr double kFailureCost = 0.3;    // log gain that a kernel that fails is as bad as
constexpr double kLargestGain = 7;      // a factor of a thousand: beyond, something else was measured

// A measured factor as a logarithm; what is no positive number says nothing.
bool usable_gain(double measured) { return std::isfinite(measured) && measured > 0; }
double log_gain(double measured) { return std::clamp(std::log(measured), -kLargestGain, kLargestGain); }

// Two-sided 95% quantiles of Student's t: with two or three measurements the normal's would promise too much.
double t_quantile(std::int64_t degrees) {
  static constexpr std::array<double, 10> kTable{12.7, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23};
  if (degrees < 1) return kTable.front();
  return degrees <= 10 ? kTable[static_cast<std::size_t>(degrees - 1)] : 1.96 + 2.7 / static_cast<double>(degrees);
}

}  // namespace

Ledger::Ledger(const std::vector<LedgerEntry>& entries) {
  for (const LedgerEntry& entry : entries) {
    if (!entry.failed && !usable_gain(entry.measured)) continue;
    const std::string filed = main_class(entry.workload_class);
    // A zone or class that is not known files the entry under the strategy alone, once.
    std::vector<Key> keys{{entry.strategy, "", ""}};
    if (!entry.zone.empty()) keys.push_back({entry.strategy, entry.zone, ""});
    if (!entry.zone.empty() && !filed.empty()) keys.push_back({entry.strategy, entry.zone, filed});
    for (const Key& key : keys) {
      Sums& sums = groups_[key];
      sums.predicted += usable_gain(entry.predicted) ? log_gain(entry.predicted) : 0;
      if (entry.failed) {
        ++sums.failures;
        continue;
      }
      const double gain = log_gain(entry.measured);
      ++sums.n;
      sums.gains += gain;
      sums.squares += gain * gain;
    }
  }
}

const Ledger::Sums* Ledger::group(const Key& key) const {
  const auto found = groups_.find(key);
  return found == groups_.end() ? nullptr : &found->second;
}

Belief Ledger::belief(const Strategy& strategy, std::string_view zone, std::string_view workload_class) const {
  Belief belief;
  belief.predicted = log_gain(strategy.predicts) * (pays_in(strategy, zone) ? 1 : kOutsideZone);
  belief.gain = belief.predicted;
  double weight = 0;  // measurements behind the gain, those of wider groups at most as many as they are worth
  double failed = 0, tried = 0;
  for (const Key& key : {Key{strategy.id, "", ""}, Key{strategy.id, std::string(zone), ""},
                         Key{strategy.id, std::string(zone), main_class(workload_class)}}) {
    const Sums* sums = group(key);
    if (!sums) break;
    const auto n = static_cast<double>(sums->n);
    belief.gain = (belief.gain * kPseudoCount + sums->gains) / (kPseudoCount + n);
    weight = std::min(weight, kPseudoCount) + n;
    const double before = tried > 0 ? failed / tried : 0;
    failed = before * kPseudoCount + static_cast<double>(sums->failures);
    tried = kPseudoCount + n + static_cast<double>(sums->failures);
    belief.count = sums->n;
    belief.failures = sums->failures;
  }
  belief.fail_rate = tried > 0 ? failed / tried : 0;
  belief.spread = kTypicalSpread / std::sqrt(1 + weight);
  belief.score = (1 - belief.fail_rate) * (belief.gain + belief.spread) - belief.fail_rate * kFailureCost;
  return belief;
}

std::vector<LedgerRow> Ledger::rows() const {
  // Wider groups repeat what narrower ones say; they are printed only for what is filed nowhere else.
  std::map<Key, std::int64_t> filed_below;
  for (const auto& [key, sums] : groups_)
    if (!key[1].empty()) filed_below[key[2].empty() ? Key{key[0], "", ""} : Key{key[0], key[1], ""}] += sums.n + sums.failures;
  std::vector<LedgerRow> rows;
  for (const auto& [key, sums] : groups_) {
    if (const auto below = filed_below.find(key); below != filed_below.end() && below->second == sums.n + sums.failures) continue;
    LedgerRow row{key[0], key[1], key[2], 1, 1, 1, 1, sums.n, sums.failures};
    row.predicted = std::exp(sums.predicted / static_cast<double>(sums.n + sums.failures));
    if (sums.n > 0) {
      const auto n = static_cast<double>(sums.n);
      const double mean = sums.gains / n;
      // A single measurement has no spread of its own, and equal ones have none that one should believe.
      const double variance =
          sums.n > 1 ? std::max(0.0, (sums.squares - n * mean * mean) / (n - 1)) : kTypicalSpread * kTypicalSpread;
      const double reach = (sums.n > 1 ? t_quantile(sums.n - 1) : 2) * std::sqrt(variance / n);
      row.measured = std::exp(mean);
      row.low = std::exp(mean - reach);
      row.high = std::exp(mean + reach);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace kw
