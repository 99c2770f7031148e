// How many bytes per second the machine moves, for working sets from L1 to memory. It never tells latency.
#pragma once

#include <vector>

#include "machine/cpu.h"
#include "record/machine.h"

namespace kw {

// The working sets worth measuring with `threads` threads, in bytes of all threads together, ascending: half of L1,
// half of L2, a quarter and three quarters of L3, and one that no cache holds, of at most `most_bytes`.
std::vector<double> working_sets(const CpuInfo& cpu, int threads, double most_bytes);

// One point for each working set (largest first) and pattern (read, write, copy, triad). From half of L3 on, stores that
// bypass the caches are tried as well, and the better figure is kept.
Result<std::vector<BandwidthPoint>> measure_bandwidth(const CpuInfo& cpu, int threads, const std::vector<double>& sets,
                                                      double budget_seconds_per_point);

}  // namespace kw
