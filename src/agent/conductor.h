// The conductor: whether a kernel that failed is repaired, written anew or given up, from the history of its lineage. Rules first;
// a model only where they are undecided.
#pragma once

#include "agent/brief.h"
#include "agent/desk.h"

namespace kw {

enum class Decision { repair, regenerate, drop, undecided };
std::string_view name_of(Decision decision);

struct Conduct {
  Decision decision = Decision::drop;
  std::string why;
  std::int64_t from = -1;  // for a repair: the index of the best state of the lineage so far
};

// How far a candidate came: 0 not written, then compiled, ran, right. Higher is better.
int progress_of(const Individual& individual);

// The attempts at one kernel, oldest first, the last of which failed. The same history always has the same answer.
Conduct decide_by_rules(const std::vector<const Individual*>& lineage);

// Where the rules are undecided. An answer that cannot be used means drop.
Conduct decide_by_model(Desk& desk, const TaskBrief& brief, const std::vector<const Individual*>& lineage);

}  // namespace kw
