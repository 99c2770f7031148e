// What llvm-mca foresees for a loop whose data is in the L1 cache. Optional: without the tool, or for code that it cannot
// simulate, there is nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "profile/loops.h"

namespace kw {

struct McaResult {
  double cycles_per_iteration = 0;
  double throughput_cycles = 0;  // what the units alone would take
  double instructions_per_cycle = 0;
  double resource_pressure = 0;      // share of the cycles in which units were short, 0 to 1
  double register_dependencies = 0;  // share in which results of registers were waited for
  double memory_dependencies = 0;
  std::string busiest_unit;  // empty when no unit is short
  std::string cpu;           // that was simulated
  [[nodiscard]] bool waits_for_results() const { return cycles_per_iteration > 1.5 * throughput_cycles; }
};

// The full path of llvm-mca (or llvm-mca-14, ...); empty when it is not installed.
std::string find_mca();

std::optional<McaResult> simulate(const Loop& loop, std::string_view isa);

// Assembly that llvm-mca reads; empty when the loop has calls or is too long to be simulated.
std::string mca_source(const Loop& loop, std::string_view isa);
// Of what llvm-mca -bottleneck-analysis prints; nothing when a number is missing.
std::optional<McaResult> parse_mca(std::string_view text);

}  // namespace kw
