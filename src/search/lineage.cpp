#include "search/lineage.h"

#include "search/score.h"

namespace kw {

bool is_further_attempt(const Individual& individual) {
  const std::string& task = individual.proposal.task;
  return task == "repair" || task == "regenerate" || task == "decide" || task == "drop";
}

std::int64_t lineage_root(const std::vector<Individual>& individuals, std::int64_t index) {
  for (;;) {
    if (index < 0 || index >= static_cast<std::int64_t>(individuals.size())) return index;
    const Individual& each = individuals[static_cast<std::size_t>(index)];
    if (!is_further_attempt(each) || each.proposal.parents.empty() || each.proposal.parents.front() >= index) return index;
    index = each.proposal.parents.front();
  }
}

std::vector<const Individual*> lineage_of(const std::vector<Individual>& individuals, std::int64_t root) {
  std::vector<const Individual*> lineage;
  for (std::size_t i = 0; i < individuals.size(); ++i) {
    const bool member = static_cast<std::int64_t>(i) == root || is_further_attempt(individuals[i]);
    if (member && lineage_root(individuals, static_cast<std::int64_t>(i)) == root) lineage.push_back(&individuals[i]);
  }
  return lineage;
}

std::optional<std::int64_t> structure_stalled_at(const std::vector<Individual>& individuals) {
  Score best;
  int without_gain = 0;
  for (std::size_t i = 0; i < individuals.size(); ++i) {
    const Individual& each = individuals[i];
    const Score score = score_of(each);
    const bool gained = beats(score, best);
    if (gained) best = score;
    if (each.proposal.origin == "knobs" || each.proposal.effort > 1) continue;  // the same structure
    without_gain = gained ? 0 : without_gain + 1;
    if (best.passed && without_gain >= kStructureStalls) return static_cast<std::int64_t>(i) + 1;
  }
  return std::nullopt;
}

}  // namespace kw
