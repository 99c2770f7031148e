// The strategist: proposes what to try next, as records. Ideas of its own become ordinary strategies of the run; an idea that is
// there already under another name is refused, and the one that is there is used instead.
#pragma once

#include "agent/brief.h"
#include "agent/desk.h"

namespace kw {

struct StrategyRequest {
  const StrategyPool* pool = nullptr;      // all that is known, ideas of this run included
  std::vector<std::string> usable;         // ids that fit the problem
  std::vector<const Individual*> parents;  // the best first; with two, a crossover is asked for
  std::string ledger_rows;
  std::vector<std::string> findings;  // of the best one's profile; empty while they are withheld
  std::optional<std::uint64_t> seed;
};

struct StrategyPlan {
  std::vector<std::string> use;      // known ids, without conflicts
  std::vector<Strategy> invented;    // new ones, sound: the pool takes them as they are
  std::vector<std::string> refused;  // why, one line each
  std::optional<Fault> fault;        // nothing came of it
};

StrategyPlan plan_strategies(Desk& desk, const TaskBrief& brief, const StrategyRequest& request);

// One strategy out of a model's record; problems are in `problems`, with the names of the fields.
Strategy strategy_of_record(const Json& json, const std::string& path, const TaskBrief& brief, const StrategyPool& pool,
                            std::vector<std::string>& problems);

// Why a regular expression of a model cannot be used: unreadable, too long, matches anything, or could take forever.
std::optional<std::string> pattern_problem(const std::string& pattern);

}  // namespace kw
