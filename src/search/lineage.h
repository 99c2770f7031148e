// What can be read from a run's individuals about models' work: attempts at the same kernel, and whether structure still pays.
// Pure functions, so that a run that is resumed reads the same.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "record/run.h"

namespace kw {

// Written anew or repaired: a further attempt at an earlier kernel.
bool is_further_attempt(const Individual& individual);

// The first attempt that this one goes back to; itself where it is the first.
std::int64_t lineage_root(const std::vector<Individual>& individuals, std::int64_t index);

// All attempts with this root, oldest first.
std::vector<const Individual*> lineage_of(const std::vector<Individual>& individuals, std::int64_t root);

// Structural proposals in a row without a gain above noise after which structure has stopped paying.
inline constexpr int kStructureStalls = 6;

// How many individuals there were when structure first stopped paying; nothing while it pays. From then on profiles are shown.
std::optional<std::int64_t> structure_stalled_at(const std::vector<Individual>& individuals);

}  // namespace kw
