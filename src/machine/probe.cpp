#include "machine/probe.h"

#include <algorithm>
#include <chrono>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/work_limit.h"
#include "machine/bandwidth.h"
#include "machine/fma_peak.h"
#include "machine/team.h"

namespace kw {
namespace {

int team_size(int threads) {
  int size = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp master
    size = omp_get_num_threads();
  }
  return size;
}

// The cheapest tenth: on a busy machine most regions wait for a thread that the system has put to sleep, and a cost measured
// then would make every workload look too small.
double empty_region_seconds(int threads, int regions) {
  std::vector<double> seconds;
  for (int i = 0; i < std::max(regions, 1); ++i) {
    const auto start = std::chrono::steady_clock::now();
#pragma omp parallel num_threads(threads)
    asm volatile("" ::: "memory");
    seconds.push_back(seconds_since(start));
  }
  const auto tenth = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 10);
  std::nth_element(seconds.begin(), tenth, seconds.end());
  return *tenth;
}

std::string now_utc() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

}  // namespace

Result<Machine> probe_machine(const CpuInfo& cpu, const ProbeEffort& effort, const Progress& progress) {
  const auto tell = [&](const std::string& message) {
    if (progress) progress(message);
  };
  const FixedTeams fixed;
  if (const int team = team_size(cpu.cores); team != cpu.cores)
    return bad_input(fmt::format("OpenMP gives {} of the {} threads that the machine has", team, cpu.cores),
                     "unset OMP_THREAD_LIMIT, or start Kernelwright with taskset on as many cores as it allows");

  Machine machine;
  machine.id = machine_id(cpu);
  machine.cpu_model = cpu.model;
  machine.cores = cpu.cores;
  machine.isas = cpu.isas;
  machine.l1d_bytes = cpu.l1d_bytes;
  machine.l2_bytes = cpu.l2_bytes;
  machine.l3_bytes = cpu.l3_bytes;
  machine.memory_bytes = cpu.memory_bytes;
  const std::vector<std::string> isas = vector_isas(cpu);
  if (isas.empty())
    return internal_error(fmt::format("'{}' has no vector instructions that the probe knows", cpu.model),
                          "add a loop for it in src/machine/fma_peak.cpp");
  machine.widest_isa = isas.back();

  std::vector<int> thread_counts{1};
  if (cpu.cores > 1) thread_counts.push_back(cpu.cores);
  for (const int threads : thread_counts) {
    for (const std::string& isa : isas) {
      if (auto end = work_must_end()) return *end;
      tell(fmt::format("multiply-adds with {}, {} thread{}", isa, threads, threads > 1 ? "s" : ""));
      KW_TRY(const double gflops, measure_fma_peak(isa, threads, effort.seconds_per_peak));
      machine.peaks.push_back({isa, threads, gflops});
    }
    tell(fmt::format("bandwidth from L1 to memory, {} thread{}", threads, threads > 1 ? "s" : ""));
    KW_TRY(const std::vector<BandwidthPoint> points,
           measure_bandwidth(cpu, threads, working_sets(cpu, threads, effort.most_bytes), effort.seconds_per_bandwidth_point));
    machine.bandwidth.insert(machine.bandwidth.end(), points.begin(), points.end());
  }
  tell("the cost of a parallel region");
  machine.openmp_region_seconds = empty_region_seconds(cpu.cores, effort.empty_regions);
  machine.measured_at = now_utc();
  return machine;
}

}  // namespace kw
