#include "search/author_bandit.h"

#include <algorithm>
#include <cmath>

namespace kw {
namespace {
constexpr double kPassedReward = 0.2;
constexpr double kExploration = 0.5;
}  // namespace

double reward_of(const Individual& individual, const Score& best_before) {
  if (!individual.passed()) return 0;
  if (beats(score_of(individual), best_before)) return 1;
  return individual.duplicate_of < 0 ? kPassedReward : 0;
}

void AuthorBandit::earned(const std::string& author, double reward) {
  Earned& one = earned_[author];
  ++one.turns;
  one.sum += reward;
}

int AuthorBandit::turns(const std::string& author) const {
  const auto found = earned_.find(author);
  return found == earned_.end() ? 0 : found->second.turns;
}

double AuthorBandit::mean(const std::string& author) const {
  const auto found = earned_.find(author);
  return found == earned_.end() || found->second.turns == 0 ? 0 : found->second.sum / found->second.turns;
}

std::string AuthorBandit::choose(const std::vector<std::string>& authors) const {
  int all = 0;
  for (const std::string& author : authors) all += turns(author);
  std::string best;
  double best_bound = -1;
  for (const std::string& author : authors) {
    if (turns(author) == 0) return author;
    const double bound = mean(author) + kExploration * std::sqrt(std::log(all) / turns(author));
    if (bound > best_bound) {
      best_bound = bound;
      best = author;
    }
  }
  return best;
}

}  // namespace kw
