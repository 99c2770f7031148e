#include "machine/roofline.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace kw {
namespace {

constexpr double kBalancedWithin = 2;      // compute and memory times that differ by less are both worth work
constexpr double kRegionsToFill = 5;       // a kernel shorter than this many parallel regions is mostly overhead
constexpr double kLatencySeconds = 20e-6;  // shorter work is mostly calls, wake-ups and cold caches
constexpr double kGiga = 1e9;

// Best GB/s by working set, made monotone: what a larger set can see, a smaller one can too.
using Ladder = std::map<double, double>;

Ladder ladder_of(const Machine& machine, int threads, bool with_write) {
  Ladder ladder;
  for (const BandwidthPoint& point : machine.bandwidth) {
    if (point.threads != threads || (!with_write && point.pattern == "write")) continue;
    double& best = ladder[point.working_set_bytes];
    best = std::max(best, point.gbytes_per_second);
  }
  double larger = 0;
  for (auto rung = ladder.rbegin(); rung != ladder.rend(); ++rung) larger = rung->second = std::max(rung->second, larger);
  return ladder;
}

double interpolated(const Ladder& ladder, double bytes) {
  if (ladder.empty()) return 0;
  const auto above = ladder.lower_bound(bytes);
  if (above == ladder.end()) return ladder.rbegin()->second;
  if (above == ladder.begin()) return above->second;
  const auto below = std::prev(above);
  const double way = std::log(bytes / below->first) / std::log(above->first / below->first);
  return below->second + way * (above->second - below->second);
}

// The rung at or below: a set between two rungs may still lie wholly in the faster cache.
double generous(const Ladder& ladder, double bytes) {
  if (ladder.empty()) return 0;
  const auto above = ladder.upper_bound(bytes);
  return above == ladder.begin() ? above->second : std::prev(above)->second;
}

// What `threads` threads see, from the ladders of one and of all. Each of several threads has its share of the set.
template <typename Look>
double of_threads(const Machine& machine, double bytes, int threads, bool with_write, const Look& look) {
  const Ladder one = ladder_of(machine, 1, with_write);
  const double alone = look(one, bytes);
  if (threads <= 1 || machine.cores <= 1) return alone;
  double together = look(ladder_of(machine, machine.cores, with_write), bytes);
  if (threads < machine.cores && !one.empty()) together = std::min(together, threads * look(one, bytes / threads));
  return std::max(alone, together);
}

double best_peak(const Machine& machine, int threads) {
  double best = 0;
  for (const FmaPeak& peak : machine.peaks)
    if (peak.threads == threads) best = std::max(best, peak.gflops);
  return best;
}

double ideal_seconds(double amount, double giga_per_second) {
  return amount > 0 && giga_per_second > 0 ? amount / (giga_per_second * kGiga) : 0;
}

Zone zone_from(const Machine& machine, const Roofline& roofline, int threads) {
  const double overhead = threads > 1 ? kRegionsToFill * machine.openmp_region_seconds : 0;
  if (roofline.floor_seconds < std::max(overhead, kLatencySeconds)) return Zone::latency;
  if (roofline.compute_seconds > kBalancedWithin * roofline.memory_seconds) return Zone::compute;
  if (roofline.memory_seconds > kBalancedWithin * roofline.compute_seconds) return Zone::memory;
  return Zone::balanced;
}

}  // namespace

std::string_view name_of(Zone zone) {
  switch (zone) {
    case Zone::memory:
      return "memory";
    case Zone::balanced:
      return "balanced";
    case Zone::compute:
      return "compute";
    case Zone::latency:
      return "latency";
  }
  return "unknown";
}

double compute_ceiling(const Machine& machine, int threads) {
  const double one = best_peak(machine, 1);
  if (threads <= 1 || machine.cores <= 1) return one;
  const double all = std::max(one, best_peak(machine, machine.cores));
  return threads >= machine.cores || one <= 0 ? all : std::min(all, threads * one);
}

double bandwidth_ceiling(const Machine& machine, double working_set_bytes, int threads) {
  return of_threads(machine, working_set_bytes, threads, false, interpolated);
}

Roofline roofline_of(const Machine& machine, const Workload& workload, int threads) {
  const double gflops = compute_ceiling(machine, threads);
  const double gbytes = bandwidth_ceiling(machine, workload.bytes, threads);
  Roofline roofline;
  roofline.compute_seconds = ideal_seconds(workload.flops.value_or(0), gflops);
  roofline.memory_seconds = ideal_seconds(workload.bytes, gbytes);
  roofline.floor_seconds = std::max(roofline.compute_seconds, roofline.memory_seconds);
  roofline.intensity = workload.bytes > 0 ? workload.flops.value_or(0) / workload.bytes : 0;
  roofline.ridge = gbytes > 0 ? gflops / gbytes : 0;
  roofline.zone = zone_from(machine, roofline, threads);
  return roofline;
}

Zone zone_of(const Machine& machine, const Workload& workload, int threads) { return roofline_of(machine, workload, threads).zone; }

double floor_seconds(const Machine& machine, const Workload& workload, int threads) {
  return roofline_of(machine, workload, threads).floor_seconds;
}

double memory_floor_seconds(const Machine& machine, const Workload& workload, int threads) {
  return ideal_seconds(workload.essential_bytes, of_threads(machine, workload.essential_bytes, threads, true, generous));
}

double share_of_ceiling(const Roofline& roofline, double seconds) { return seconds > 0 ? roofline.floor_seconds / seconds : 0; }

}  // namespace kw
