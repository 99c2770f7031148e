#include "search/run_lessons.h"

#include <algorithm>

namespace kw {

std::vector<Lesson> lessons_of(const RunRecord& run, const std::vector<Individual>& individuals, const Features& features) {
  // What many layers do all together is no advice for one of them; their own runs give that.
  if (run.winner < 0 || !run.parts.empty()) return {};
  const bool is_settled = run.confirmed || run.estimate || !run.options.part_of.empty();
  if (!is_settled) return {};
  const Individual& best = individuals[static_cast<std::size_t>(run.winner)];
  const auto first = std::ranges::find_if(individuals, [](const Individual& each) { return each.passed() && each.speedup > 0; });
  Lesson lesson;
  lesson.workload_class = run.workload_class;
  lesson.zone = run.zone;
  lesson.shape = run.shape;
  lesson.features = features;
  lesson.first = first->kernel;
  lesson.best = best.kernel;
  lesson.best_knobs = best.proposal.knobs;
  lesson.strategies = best.real_strategies();
  lesson.speedup = best.speedup;
  lesson.gain = best.speedup / first->speedup;
  lesson.run = run.id;
  return {lesson};
}

}  // namespace kw
