// From a kernel's loops, timings and roofline to a few findings: what holds it back and which levers could help.
// A pure function: nothing here measures or reads files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/counters.h"
#include "profile/loops.h"
#include "profile/mca.h"
#include "record/profile.h"

namespace kw {

// 0 or empty where it is not known: nothing is said about that then.
struct ProfileInputs {
  std::vector<Loop> loops;                // innermost_loops
  std::optional<McaResult> mca;           // of the heaviest loop
  std::optional<CounterValues> counters;  // over any number of calls

  std::string zone;  // memory, balanced, compute, latency
  double share_of_ceiling = 0;
  double seconds = 0;             // of a call with all threads, warm
  double one_thread_seconds = 0;  // the same with one thread
  double cold_seconds = 0;        // of a call whose data is not in the caches
  int threads = 0;
  double slowest_over_mean = 0;  // busy time of the slowest thread over the mean of all

  double region_seconds = 0;  // an empty parallel region
  double output_bytes = 0;
  double cache_bytes = 0;  // the last level
  int vector_bits = 0;     // the machine's widest vectors
};

// At most five, the heaviest first.
ProfileRecord findings(const ProfileInputs& inputs);

// The width of the machine's vectors, from its instruction sets as Machine and CpuInfo name them.
int vector_bits_of(const std::vector<std::string>& isas);

}  // namespace kw
