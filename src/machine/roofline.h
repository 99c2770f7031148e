// Where a workload stands on a machine: its zone, and the time that no kernel should beat.
// Pure functions of a Machine record: nothing here measures, and nothing knows of a particular kernel.
#pragma once

#include <optional>
#include <string_view>

#include "record/machine.h"

namespace kw {

struct Workload {
  std::optional<double> flops;  // unknown where the graph is
  double bytes = 0;             // every input and parameter once, every output once
  double essential_bytes = 0;   // the part without which the output cannot be right
};

enum class Zone { memory, balanced, compute, latency };
std::string_view name_of(Zone zone);

struct Roofline {
  Zone zone = Zone::latency;
  double floor_seconds = 0;    // the larger of the next two
  double compute_seconds = 0;  // at the peak; 0 where the FLOPs are unknown
  double memory_seconds = 0;   // at the ceiling for this many bytes
  double intensity = 0;        // FLOPs per byte
  double ridge = 0;            // the intensity at which both take as long
};

// GFLOP/s of the best instruction set. Between the measured thread counts: as many times one thread's, but no more
// than all threads'. 0 where nothing was measured.
double compute_ceiling(const Machine& machine, int threads);

// GB/s that a working set of this size can see: the best of read, copy and triad, between two measured sizes
// interpolated over the logarithm of the size. A smaller set never has a lower ceiling. 0 where nothing was measured.
double bandwidth_ceiling(const Machine& machine, double working_set_bytes, int threads);

Roofline roofline_of(const Machine& machine, const Workload& workload, int threads);
Zone zone_of(const Machine& machine, const Workload& workload, int threads);
double floor_seconds(const Machine& machine, const Workload& workload, int threads);

// Below this a result cannot be true: the essential bytes alone, at the highest rate of any pattern for this size
// or the next smaller measured one. Without a compute term, because a kernel may honestly save FLOPs.
double memory_floor_seconds(const Machine& machine, const Workload& workload, int threads);

// 1 at the ceiling; noise may take it a little above. 0 for a time that is not positive.
double share_of_ceiling(const Roofline& roofline, double seconds);

}  // namespace kw
