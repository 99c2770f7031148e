#include "measure/statistics.h"

#include <algorithm>
#include <cmath>

namespace kw {
namespace {

// The value at a share of the way through sorted values, interpolated.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double quantile_of(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return quantile(values, share);
}

// The averages of all pairs of values, each with itself too. Their median is the centre; how many of them lie below a point is
// the signed-rank statistic for it.
std::vector<double> walsh_averages(const std::vector<double>& values) {
  std::vector<double> averages;
  averages.reserve(values.size() * (values.size() + 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t k = i; k < values.size(); ++k) averages.push_back((values[i] + values[k]) / 2);
  std::sort(averages.begin(), averages.end());
  return averages;
}

// 1.96 would be 95% for one look at pairs that know nothing of each other. Here the interval is looked at until it is narrow
// enough, and neighbours resemble each other a little on a real machine.
constexpr double kNormalQuantile = 2.2;

// What does not average out within one comparison: where its memory came to lie makes the same kernel up to about this much
// faster or slower than itself, in every pair alike.
constexpr double kPlacement = 0.005;

// How many averages to leave out at either end for 95%. With fewer than six values not even all of them suffice: none.
std::size_t left_out(std::size_t n) {
  if (n < 6) return 0;
  const auto count = static_cast<double>(n);
  const double mean = count * (count + 1) / 4;
  const double spread = std::sqrt(count * (count + 1) * (2 * count + 1) / 24);
  return static_cast<std::size_t>(std::max(0.0, std::floor(mean - kNormalQuantile * spread - 0.5)));
}

}  // namespace

double median(std::vector<double> values) { return quantile_of(std::move(values), 0.5); }

double block_seconds(const std::vector<double>& calls) { return quantile_of(calls, 0.1); }

Ratio speedup_of(const std::vector<BlockPair>& pairs) {
  std::vector<double> logarithms;
  for (const auto& pair : pairs) {
    const double baseline = block_seconds(pair.baseline);
    const double candidate = block_seconds(pair.candidate);
    if (baseline > 0 && candidate > 0) logarithms.push_back(std::log(baseline / candidate));
  }
  if (logarithms.empty()) return {};
  const std::vector<double> averages = walsh_averages(logarithms);
  const std::size_t skip = left_out(logarithms.size());
  return {std::exp(quantile(averages, 0.5)),
          {std::exp(averages[skip] - kPlacement), std::exp(averages[averages.size() - 1 - skip] + kPlacement)}};
}

}  // namespace kw
