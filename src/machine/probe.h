// Measures a machine's ceilings: multiply-add peaks, the bandwidth ladder, the cost of a parallel region.
// It takes all cores for a few seconds and keeps nothing; machine_cache.h does the keeping and the locking.
#pragma once

#include <functional>
#include <string_view>

#include "machine/cpu.h"
#include "record/machine.h"

namespace kw {

using Progress = std::function<void(std::string_view)>;

struct ProbeEffort {
  double seconds_per_peak = 0.06;
  double seconds_per_bandwidth_point = 0.02;
  double most_bytes = 512 << 20;  // of the largest working set
  int empty_regions = 2000;
};

// The caller holds the MachineLock: whatever else is timed at the same moment spoils both.
Result<Machine> probe_machine(const CpuInfo& cpu, const ProbeEffort& effort = {}, const Progress& progress = {});

}  // namespace kw
