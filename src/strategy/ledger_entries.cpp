#include "strategy/ledger_entries.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace kw {
namespace {

constexpr std::size_t kFarthest = 3;  // strategies apart: a ratio shared among more says little of each

// What it does for all one knows. A kernel that was never compiled has not been aligned: then what it claims.
std::set<std::string> strategies_of(const Individual& individual) {
  if (!individual.strategies.empty()) {
    const auto real = individual.real_strategies();
    return {real.begin(), real.end()};
  }
  const auto& claimed = individual.kernel.claims;
  return {claimed.begin(), claimed.end()};
}

struct Difference {
  std::vector<std::string> added, removed;
  [[nodiscard]] std::size_t size() const { return added.size() + removed.size(); }
};

Difference difference(const std::set<std::string>& from, const std::set<std::string>& to) {
  Difference made;
  std::set_difference(to.begin(), to.end(), from.begin(), from.end(), std::back_inserter(made.added));
  std::set_difference(from.begin(), from.end(), to.begin(), to.end(), std::back_inserter(made.removed));
  return made;
}

// Knobs that both kernels have and that are set differently; unset ones have the kernel's default.
int knobs_apart(const Individual& a, const Individual& b) {
  const auto setting = [](const Individual& individual, const Knob& knob) {
    const auto set = individual.proposal.knobs.find(knob.name);
    return set == individual.proposal.knobs.end() ? std::to_string(knob.standard) : set->second;
  };
  int apart = 0;
  for (const Knob& knob : a.kernel.knobs)
    for (const Knob& other : b.kernel.knobs)
      if (knob.name == other.name && setting(a, knob) != setting(b, other)) ++apart;
  return apart;
}

// Of a call; 0 where nothing was timed. Code that was there before has the time of the individual that had it first.
double seconds_of(const std::vector<Individual>& individuals, const Individual& individual) {
  if (!individual.passed()) return 0;
  if (std::isfinite(individual.seconds) && individual.seconds > 0) return individual.seconds;
  for (const Individual& original : individuals)
    if (original.index == individual.duplicate_of && original.index < individual.index) return seconds_of(individuals, original);
  return 0;
}

struct Relative {
  const Individual* individual = nullptr;
  Difference difference;
};

// `usable` says which differences may be learnt from.
template <typename Usable>
Relative nearest_relative(const std::vector<Individual>& individuals, const Individual& child, Usable usable) {
  const auto own = strategies_of(child);
  const auto& parents = child.proposal.parents;
  Relative best;
  std::tuple<std::size_t, bool, int, std::int64_t> best_rank;
  for (const Individual& other : individuals) {
    if (other.index >= child.index || !(seconds_of(individuals, other) > 0)) continue;
    Difference apart = difference(strategies_of(other), own);
    if (!usable(apart)) continue;
    const bool stranger = std::find(parents.begin(), parents.end(), other.index) == parents.end();
    const std::tuple rank(apart.size(), stranger, knobs_apart(child, other), -other.index);
    if (!best.individual || rank < best_rank) {
      best = {&other, std::move(apart)};
      best_rank = rank;
    }
  }
  return best;
}

// Entries from relatives that are at most so many strategies apart.
std::vector<LedgerEntry> entries_within(std::size_t farthest, const StrategyPool& pool, const std::vector<Individual>& individuals,
                                        std::int64_t first, const RunFacts& facts) {
  std::vector<LedgerEntry> entries;
  for (const Individual& child : individuals) {
    if (child.index < first) continue;
    const auto entry = [&](const std::string& id, double measured, bool failed) {
      const Strategy* strategy = pool.find(id);
      entries.push_back({id, facts.zone, main_class(facts.workload_class), strategy ? strategy->predicts : 1, measured, failed,
                         facts.run, child.index});
    };
    if (const double seconds = seconds_of(individuals, child); seconds > 0) {
      const auto relative = nearest_relative(
          individuals, child, [&](const Difference& apart) { return apart.size() >= 1 && apart.size() <= farthest; });
      if (!relative.individual) continue;
      const double ratio = seconds_of(individuals, *relative.individual) / seconds;
      const double share = std::log(ratio) / static_cast<double>(relative.difference.size());
      for (const std::string& id : relative.difference.added) entry(id, std::exp(share), false);
      for (const std::string& id : relative.difference.removed) entry(id, std::exp(-share), false);
    } else if (!child.passed() && child.verdict != Verdict::mistrusted) {
      const auto relative = nearest_relative(
          individuals, child, [&](const Difference& apart) { return !apart.added.empty() && apart.added.size() <= kFarthest; });
      if (!relative.individual) continue;
      for (const std::string& id : relative.difference.added) entry(id, 1, true);
    }
  }
  return entries;
}

}  // namespace

std::vector<LedgerEntry> ledger_entries(const StrategyPool& pool, const std::vector<Individual>& individuals, std::int64_t first,
                                        const RunFacts& facts) {
  auto entries = entries_within(kFarthest, pool, individuals, first, facts);
  // In a short search all kernels may be far apart: then little is said of each strategy, which is more than nothing.
  return entries.empty() ? entries_within(SIZE_MAX, pool, individuals, first, facts) : entries;
}

}  // namespace kw
