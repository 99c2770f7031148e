#include "search/assembly.h"

#include <algorithm>
#include <set>

#include "machine/roofline.h"
#include "problem/workload.h"
#include "search/workbench.h"

namespace kw {
namespace {

constexpr double kFewestSeconds = 6;  // drawing inputs, eager's baseline, a few kernels
constexpr int kFewestEvaluations = 2;

Result<std::vector<std::string>> believed_in(const Part& part, const Coder& coder, const Machine& machine, int threads,
                                             const StrategyPool& pool, const Ledger& ledger) {
  SearchContext context;
  const Workload workload{part.problem.flops, part.problem.bytes, part.problem.essential_bytes};
  context.pool = &pool;
  context.zone = std::string(name_of(zone_of(machine, workload, threads)));
  context.workload_class = workload_class(part.problem).main;
  context.ledger = &ledger;
  context.usable = usable_by(coder, pool, pool.applicable(coder.features(), context.zone, context.workload_class, pool.ids()));
  context.write = [&coder](const std::vector<std::string>& strategies) { return coder.write(strategies); };
  const Workbench bench(std::move(context));
  return bench.catalogue().ids(bench.catalogue().together(bench.promising()));
}

Proposal assembled_proposal(const std::vector<PartChoice>& choices, const std::string& origin) {
  Proposal proposal;
  proposal.origin = origin;
  proposal.parts = choices;
  std::set<std::string> all;
  for (const PartChoice& choice : choices) all.insert(choice.strategies.begin(), choice.strategies.end());
  proposal.strategies.assign(all.begin(), all.end());
  return proposal;
}

}  // namespace

std::vector<PartRecord> part_records(const Split& split, const Machine& machine, int threads) {
  std::vector<PartRecord> records;
  double total = 0;
  for (const Part& part : split.parts) {
    const Roofline roofline = roofline_of(machine, {part.problem.flops, part.problem.bytes, part.problem.essential_bytes}, threads);
    const double seconds = roofline.compute_seconds + roofline.memory_seconds + machine.openmp_region_seconds;
    records.push_back({part.hash, part.operations, part.places, seconds * part.places, "", 0});
    total += records.back().share;
  }
  for (PartRecord& record : records) record.share /= total > 0 ? total : 1;
  std::ranges::stable_sort(records, [](const PartRecord& a, const PartRecord& b) { return a.share > b.share; });
  return records;
}

std::vector<PartRecord> parts_of_problem(const ProblemDescription& problem, const Machine& machine, int threads) {
  return part_records(split_problem(problem), machine, threads);
}

Result<std::vector<PartPlan>> plan_parts(const Split& split, const Machine& machine, int threads, const StrategyPool& pool,
                                         const Ledger& ledger) {
  std::vector<PartPlan> plans;
  for (const PartRecord& record : part_records(split, machine, threads)) {
    const Part& part = *std::ranges::find(split.parts, record.part, &Part::hash);
    KW_TRY(const auto coder, playbook_coder(part.problem, machine, threads));
    KW_TRY(auto standard, believed_in(part, *coder, machine, threads, pool, ledger));
    plans.push_back({&part, record.share, std::move(standard)});
  }
  return plans;
}

std::optional<RunOptions> part_options(const RunOptions& whole, double share, double seconds_left, int evaluations_left) {
  RunOptions options = whole;
  if (whole.seconds > 0) {
    options.seconds = std::min(std::max(kFewestSeconds, kForParts * share * whole.seconds), seconds_left);
    if (options.seconds < kFewestSeconds) return std::nullopt;
  }
  if (whole.evaluations > 0) {
    options.evaluations =
        std::min(std::max(kFewestEvaluations, static_cast<int>(kForParts * share * whole.evaluations)), evaluations_left);
    if (options.evaluations < kFewestEvaluations) return std::nullopt;
  }
  options.model.clear();
  options.base_url.clear();
  return options;
}

PartChoice choice_without_search(const PartPlan& plan, const std::vector<PartPlan>& plans,
                                 const std::vector<PartChoice>& searched) {
  for (const PartChoice& choice : searched) {
    const auto like = std::ranges::find_if(plans, [&](const PartPlan& other) { return other.part->hash == choice.part; });
    if (like != plans.end() && like->part->operations == plan.part->operations) return {plan.part->hash, choice.strategies, {}};
  }
  return {plan.part->hash, plan.standard, {}};
}

Assembly::Assembly(std::vector<std::vector<PartChoice>> kernels, std::set<std::string> rounding)
    : kernels_(std::move(kernels)), safest_(kernels_.back()), rounding_(std::move(rounding)) {}

std::vector<Proposal> Assembly::ask() {
  if (kernels_.empty() && !passed_ && !simplified_) {
    // First without what rounds otherwise, then without what changes sums and functions at all; the plain kernel is always right,
    // and always slow.
    simplified_ = true;
    static const std::set<std::string> plain_ones{"parallel_outer", "fuse_chain", "fuse_epilogue", "fuse_row_passes"};
    std::vector<PartChoice> careful = safest_, simple = safest_, plain = safest_;
    bool changed = false;
    for (PartChoice& choice : careful)
      if (std::erase_if(choice.strategies, [&](const std::string& id) { return rounding_.contains(id); }) > 0) {
        choice.knobs.clear();
        changed = true;
      }
    for (PartChoice& choice : simple) {
      choice.knobs.clear();
      std::erase_if(choice.strategies, [](const std::string& id) { return !plain_ones.contains(id); });
    }
    for (PartChoice& choice : plain) choice = {choice.part, {}, {}};
    if (changed) kernels_.push_back(std::move(careful));
    kernels_.push_back(std::move(simple));
    kernels_.push_back(std::move(plain));
  }
  std::vector<Proposal> proposals;
  if (!kernels_.empty()) proposals.push_back(assembled_proposal(kernels_.front(), simplified_ ? "structure" : "seed"));
  if (!kernels_.empty()) kernels_.erase(kernels_.begin());
  return proposals;
}

void Assembly::tell(const std::vector<Individual>& outcomes) {
  for (const Individual& outcome : outcomes) passed_ = passed_ || outcome.passed();
  if (passed_ && simplified_) kernels_.clear();
}

}  // namespace kw
