#include "report/run_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/hash.h"
#include "strategy/pool.h"

namespace kw {
namespace {

// A run may be looked at where the project's knowledge is not: then strategies have their ids only.
void name_strategies(RunView& view) {
  const auto pool = StrategyPool::load_own();
  const auto name = [&](const std::string& id) {
    if (view.strategies.contains(id)) return;
    if (const Strategy* known = pool ? pool->find(id) : nullptr) view.strategies.emplace(id, *known);
  };
  for (const Individual& individual : view.individuals) {
    for (const Strategy& invented : individual.invented) view.strategies.emplace(invented.id, invented);
    for (const AlignedStrategy& strategy : individual.strategies) name(strategy.id);
    for (const std::string& id : individual.proposal.strategies) name(id);
  }
  for (const LedgerEntry& entry : view.ledger) name(entry.strategy);
}

}  // namespace

Error no_such_run(std::string_view id) { return bad_input(fmt::format("there is no run {}", id), "kernelwright runs lists them"); }

Result<RunView> run_view(Archive& archive, std::string_view id, Sources sources, std::int64_t first) {
  const RunArchive runs = archive.runs();
  RunView view;
  KW_TRY(auto run, runs.find(id));
  if (!run) return no_such_run(id);
  view.run = std::move(*run);
  view.under_way = view.run.state == "running" && is_under_way(data_home() / "locks", view.run.id);
  if (sources == Sources::with) {
    KW_TRY(view.individuals, runs.individuals(id));
  } else {
    KW_TRY(view.individuals, runs.outlines(id, first));
  }
  KW_TRY(view.exchanges, runs.exchanges(id));
  KW_TRY(view.ledger, runs.ledger_of(id));
  KW_TRY(view.problem, archive.find_problem(view.run.problem_hash, view.run.torch_version));
  KW_TRY(view.machine, archive.find_machine(view.run.machine_id));
  if (view.run.winner >= 0) {
    KW_TRY(const auto winner, runs.individual(id, view.run.winner));
    if (winner) {
      KW_TRY(view.evaluation, archive.find_measured(view.run.problem_hash, sha256(winner->kernel.source), winner->proposal.knobs));
    }
  }
  name_strategies(view);
  return view;
}

}  // namespace kw
