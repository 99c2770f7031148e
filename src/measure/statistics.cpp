#include "measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace kw {
namespace {

constexpr int kResamples = 2000;
constexpr double kTail = 0.025;

double sorted_median(const std::vector<double>& sorted) {
  const std::size_t n = sorted.size();
  return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

// The largest k for which P(Binomial(n, 1/2) < k) stays within the tail: the k-th smallest and k-th largest values
// enclose the median with at least 95%. 0 when n is too small for any.
std::size_t order_statistic(std::size_t n) {
  double probability = std::pow(0.5, static_cast<double>(n));  // of 0 heads
  double cumulative = 0;
  std::size_t k = 0;
  while (k < n && cumulative + probability <= kTail) {
    cumulative += probability;
    probability *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    ++k;
  }
  return k;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return sorted_median(values);
}

Ratio speedup_of(const std::vector<BlockPair>& pairs, std::uint64_t seed) {
  std::vector<double> ratios;
  for (const auto& pair : pairs) {
    const double candidate = median(pair.candidate);
    if (candidate > 0 && !pair.baseline.empty()) ratios.push_back(median(pair.baseline) / candidate);
  }
  if (ratios.empty()) return {};
  std::sort(ratios.begin(), ratios.end());
  Ratio ratio;
  ratio.value = sorted_median(ratios);

  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::size_t> pick(0, ratios.size() - 1);
  std::vector<double> medians;
  std::vector<double> sample(ratios.size());
  for (int i = 0; i < kResamples; ++i) {
    for (auto& value : sample) value = ratios[pick(random)];
    medians.push_back(median(sample));
  }
  std::sort(medians.begin(), medians.end());
  const auto at = [&](double share) { return medians[static_cast<std::size_t>(share * (kResamples - 1))]; };
  ratio.interval = {at(kTail), at(1 - kTail)};
  const std::size_t k = order_statistic(ratios.size());
  ratio.interval.low = std::min(ratio.interval.low, k == 0 ? ratios.front() : ratios[k - 1]);
  ratio.interval.high = std::max(ratio.interval.high, k == 0 ? ratios.back() : ratios[ratios.size() - k]);
  return ratio;
}

}  // namespace kw
