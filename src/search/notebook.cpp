#include "search/notebook.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kw {

namespace {

constexpr double kLevelVariance = 4;       // of the plain kernel's speedup: it may be anything from 0.02 to 50
constexpr double kPairVariance = 0.0144;   // two strategies may help or hinder each other by some 12%
constexpr double kMisfitVariance = 4e-4;   // what neither strategies nor pairs explain
constexpr double kLeastDeviation = 0.005;  // no timing is better than this
constexpr std::size_t kMostNotes = 320;    // estimates cost the square of it
constexpr std::size_t kBestKept = 160, kLatestKept = 80;

bool includes_all(const Genes& all, const Genes& part) { return std::includes(all.begin(), all.end(), part.begin(), part.end()); }

// The smallest things that could have caused a failure: strategies that were never in a kernel that passed; failing these, pairs;
// failing these, the whole set.
std::vector<Genes> suspects_of(const Genes& failed, const std::vector<Genes>& passed) {
  const auto cleared = [&](const Genes& part) {
    return std::any_of(passed.begin(), passed.end(), [&](const Genes& genes) { return includes_all(genes, part); });
  };
  std::vector<Genes> suspects;
  for (const int gene : failed)
    if (!cleared({gene})) suspects.push_back({gene});
  if (!suspects.empty()) return suspects;
  for (std::size_t a = 0; a < failed.size(); ++a)
    for (std::size_t b = a + 1; b < failed.size(); ++b)
      if (!cleared({failed[a], failed[b]})) suspects.push_back({failed[a], failed[b]});
  if (suspects.empty()) suspects.push_back(failed);
  return suspects;
}

}  // namespace

double Notebook::prior_mean(const Genes& genes) const {
  double mean = 0;
  for (const int gene : genes) mean += effects_[static_cast<std::size_t>(gene)].mean;
  return mean;
}

double Notebook::covariance(const Genes& a, const Genes& b) const {
  double sum = kLevelVariance, common = 0;
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() && right != b.end()) {
    if (*left < *right) {
      ++left;
    } else if (*right < *left) {
      ++right;
    } else {
      const double deviation = effects_[static_cast<std::size_t>(*left)].deviation;
      sum += deviation * deviation;
      common += 1;
      ++left, ++right;
    }
  }
  return sum + kPairVariance * common * (common - 1) / 2;
}

std::vector<double> Notebook::whitened(const Genes& genes) const {
  std::vector<double> solved(notes_.size());
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    double rest = covariance(genes, notes_[i].genes);
    const double* row = factor_[i].data();
    const double* before = solved.data();
    for (std::size_t j = 0; j < i; ++j) rest -= row[j] * before[j];
    solved[i] = rest / row[i];
  }
  return solved;
}

void Notebook::append(const Note& note) {
  std::vector<double> row = whitened(note.genes);
  const double deviation = std::max(note.value.deviation, kLeastDeviation);
  double variance = covariance(note.genes, note.genes) + deviation * deviation + kMisfitVariance;
  double rest = note.value.mean - prior_mean(note.genes);
  for (std::size_t j = 0; j < row.size(); ++j) {
    variance -= row[j] * row[j];
    rest -= row[j] * residuals_[j];
  }
  row.push_back(std::sqrt(std::max(variance, kMisfitVariance)));
  residuals_.push_back(rest / row.back());
  factor_.push_back(std::move(row));
  notes_.push_back(note);
}

void Notebook::rebuild(const std::vector<Note>& notes) {
  notes_.clear();
  factor_.clear();
  residuals_.clear();
  for (const Note& note : notes) append(note);
}

void Notebook::note_speedup(const Genes& genes, Estimate log_speedup) {
  if (std::find(passed_.begin(), passed_.end(), genes) == passed_.end()) {
    passed_.push_back(genes);
    suspect_again();
  }
  append({genes, log_speedup});
  if (notes_.size() < kMostNotes) return;
  std::vector<Note> kept(notes_.end() - kLatestKept, notes_.end());
  std::vector<Note> older(notes_.begin(), notes_.end() - kLatestKept);
  std::stable_sort(older.begin(), older.end(), [](const Note& a, const Note& b) { return a.value.mean > b.value.mean; });
  kept.insert(kept.begin(), older.begin(), older.begin() + kBestKept);
  rebuild(kept);
}

void Notebook::note_failure(const Genes& genes) {
  if (genes.empty()) return;  // the plain kernel: no strategy is to blame
  if (std::find(failed_.begin(), failed_.end(), genes) == failed_.end()) failed_.push_back(genes);
  suspect_again();
}

void Notebook::suspect_again() {
  suspects_.clear();
  for (const Genes& failed : failed_) suspects_.push_back(suspects_of(failed, passed_));
}

void Notebook::note_absence(int gene) {
  double& mean = effects_[static_cast<std::size_t>(gene)].mean;
  if (mean <= 0) return;
  mean = 0;
  rebuild(std::vector<Note>(notes_));
}

Estimate Notebook::speedup(const Genes& genes) const {
  const std::vector<double> solved = whitened(genes);
  double mean = prior_mean(genes), variance = covariance(genes, genes);
  for (std::size_t i = 0; i < solved.size(); ++i) {
    mean += solved[i] * residuals_[i];
    variance -= solved[i] * solved[i];
  }
  return {mean, std::sqrt(std::max(variance, 1e-8))};
}

double Notebook::gain(const Genes& genes, int gene) const {
  Genes with = genes, without = genes;
  std::erase(without, gene);
  if (!contains(with, gene)) with.insert(std::lower_bound(with.begin(), with.end(), gene), gene);
  return speedup(with).mean - speedup(without).mean;
}

double Notebook::risk(const Genes& genes) const {
  double passes = 1;
  for (const std::vector<Genes>& suspects : suspects_) {
    const auto here = std::count_if(suspects.begin(), suspects.end(), [&](const Genes& part) { return includes_all(genes, part); });
    passes *= 1 - static_cast<double>(here) / static_cast<double>(suspects.size());
  }
  return 1 - passes;
}

double Notebook::expected_improvement(const Genes& genes, double best) const {
  const Estimate estimate = speedup(genes);
  const double z = (estimate.mean - best) / estimate.deviation;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  const double below = std::erfc(-z / std::numbers::sqrt2) / 2;
  return (1 - risk(genes)) * estimate.deviation * std::max(density + z * below, 0.0);
}

double Notebook::upper_bound(const Genes& genes, double deviations) const {
  const Estimate estimate = speedup(genes);
  return estimate.mean + deviations * estimate.deviation + std::log(std::max(1 - risk(genes), 1e-3));
}

}  // namespace kw
