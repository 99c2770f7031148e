#include "search/workbench.h"

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "search/belief.h"
#include "strategy/pool.h"

namespace kw {

namespace {
constexpr double kInheritedDeviation = 0.03;  // how little is known of knobs that were taken over from another kernel
}

Workbench::Workbench(SearchContext context)
    : context_(std::move(context)),
      catalogue_(context_.pool->all(), context_.usable),
      notebook_(first_beliefs(catalogue_, context_)) {}

const Draft* Workbench::draft(const Genes& genes) {
  const auto known = drafts_.find(genes);
  if (known != drafts_.end()) return known->second.get();
  auto& place = drafts_[genes];
  const auto kernel = context_.write(catalogue_.ids(genes));
  if (!kernel) return nullptr;
  auto space = KnobSpace::of(*kernel);
  // Knobs that cannot be understood are left alone: the kernel is right at its defaults.
  if (!space) space = KnobSpace::of(Kernel{});
  place = std::make_unique<Draft>(Draft{genes, catalogue_.genes(kernel->claims), *space, key_of(kernel->dsl, kernel->source)});
  return place.get();
}

std::string Workbench::key_of_kernel(const Draft& draft, const KnobPoint& point) {
  std::string key = draft.key;
  for (const auto& [name, value] : draft.space.values(point)) key += " " + name + "=" + value;
  return key;
}

std::optional<Order> Workbench::order(const Genes& genes, const KnobValues& knobs, std::string origin,
                                      std::vector<std::int64_t> parents) {
  const Draft* written = draft(genes);
  if (written == nullptr) return std::nullopt;
  return order(*written, written->space.nearest(knobs), std::move(origin), std::move(parents));
}

std::optional<Order> Workbench::order(const Draft& draft, const KnobPoint& point, std::string origin,
                                      std::vector<std::int64_t> parents) {
  if (!kernels_.try_emplace(key_of_kernel(draft, point), Known{-1, {}}).second) return std::nullopt;
  Order order;
  order.draft = &draft;
  order.point = point;
  order.proposal.origin = std::move(origin);
  order.proposal.strategies = catalogue_.ids(draft.asked);
  order.proposal.knobs = draft.space.values(point);
  order.proposal.parents = std::move(parents);
  return order;
}

Order Workbench::again(const Order& before, std::string origin, std::int64_t parent, int effort) {
  Order order = before;
  order.proposal.origin = std::move(origin);
  order.proposal.parents = {parent};
  order.proposal.effort = effort;
  return order;
}

std::optional<Outcome> Workbench::known(const Draft& draft, const KnobPoint& point, int effort) const {
  const auto found = kernels_.find(key_of_kernel(draft, point));
  if (found == kernels_.end() || found->second.effort < effort) return std::nullopt;
  return found->second.outcome;
}

Outcome Workbench::note(const Order& order, const Individual& individual) {
  Known& known = kernels_[key_of_kernel(*order.draft, order.point)];
  const bool first = known.effort < 0;
  if (!first && individual.verdict == Verdict::mistrusted) {
    // A clock that could not be trusted this time takes nothing from what an earlier one said.
    known.effort = std::max(known.effort, order.proposal.effort);
    return known.outcome;
  }
  Outcome outcome{individual.index, score_of(individual), first && individual.duplicate_of >= 0, individual.findings};
  known = {std::max(known.effort, order.proposal.effort), outcome};
  if (outcome.duplicate) return outcome;
  for (const AlignedStrategy& aligned : individual.strategies)
    if (aligned.presence == Presence::struck)
      for (const int gene : catalogue_.genes({aligned.id})) notebook_.note_absence(gene);
  const Genes& claims = order.draft->claims;
  const bool usual_knobs = order.point == order.draft->space.standard();
  if (order.proposal.origin == "knobs" && (!usual_knobs || first)) return outcome;
  if (outcome.score.passed) {
    const double deviation = usual_knobs ? outcome.score.deviation : std::hypot(outcome.score.deviation, kInheritedDeviation);
    notebook_.note_speedup(claims, {outcome.score.centre - order.knob_gain, deviation});
  } else if (first && individual.verdict != Verdict::mistrusted) {
    notebook_.note_failure(claims);
  }
  return outcome;
}

std::vector<int> Workbench::promising() const {
  const auto& effects = notebook_.effects();
  std::vector<int> order;
  for (int gene = 0; gene < catalogue_.size(); ++gene)
    if (effects[static_cast<std::size_t>(gene)].mean >= 0) order.push_back(gene);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return effects[static_cast<std::size_t>(a)].mean > effects[static_cast<std::size_t>(b)].mean;
  });
  return order;
}

TuningSession::TuningSession(Workbench& bench, const Order& start, const Outcome& outcome, int glances, Random random)
    : bench_(bench), start_(start), tuner_(start.draft->space, start.point, outcome.score, glances, bench.knob_memory(), random) {
  outcomes_[start.point] = outcome;
}

std::vector<Order> TuningSession::ask(int most) {
  for (;;) {
    std::vector<Order> orders;
    const std::vector<KnobTrial> trials = tuner_.ask(most);
    for (const KnobTrial& trial : trials) {
      if (const auto known = bench_.known(*start_.draft, trial.point, trial.effort)) {
        outcomes_[trial.point] = *known;
        tuner_.tell(trial, known->score);
        continue;
      }
      auto order = bench_.order(*start_.draft, trial.point, "knobs", {outcomes_.at(start_.point).index});
      if (!order) {
        const auto earlier = outcomes_.find(trial.point);
        Order same = start_;
        same.point = trial.point;
        same.proposal.knobs = start_.draft->space.values(trial.point);
        const Outcome& parent = earlier == outcomes_.end() ? outcomes_.at(start_.point) : earlier->second;
        order = Workbench::again(same, "knobs", parent.index, trial.effort);
      }
      order->proposal.effort = trial.effort;
      order->knob_gain = 0;
      orders.push_back(std::move(*order));
    }
    if (!orders.empty() || trials.empty()) return orders;
  }
}

void TuningSession::tell(const Order& order, const Outcome& outcome) {
  outcomes_[order.point] = outcome;
  tuner_.tell({order.point, order.proposal.effort}, outcome.score);
}

std::optional<Order> TuningSession::best() const {
  if (tuner_.best() == start_.point) return std::nullopt;
  Order order = start_;
  order.point = tuner_.best();
  order.proposal.knobs = start_.draft->space.values(order.point);
  order.knob_gain += tuner_.score_of(order.point).centre - tuner_.score_of(start_.point).centre;
  return order;
}

}  // namespace kw
