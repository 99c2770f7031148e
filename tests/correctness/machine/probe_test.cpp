#include "machine/probe.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <set>

#include "machine/bandwidth.h"
#include "machine/fma_peak.h"
#include "machine/machine_cache.h"

// libgomp's barriers are unknown to the thread sanitizer, which then reports races between a region and its end.
#if defined(__SANITIZE_THREAD__)
#define KW_NEEDS_OPENMP() GTEST_SKIP() << "libgomp is not built for the thread sanitizer"
#else
#define KW_NEEDS_OPENMP() (void)0
#endif

namespace kw {
namespace {

constexpr ProbeEffort kShort{0.002, 0.001, 4 << 20, 20};

TEST(Probe, FillsTheRecordWithPlausibleFigures) {
  KW_NEEDS_OPENMP();
  const CpuInfo cpu = detect_cpu();
  int steps = 0;
  const Result<Machine> probed = probe_machine(cpu, kShort, [&](std::string_view) { ++steps; });
  ASSERT_TRUE(probed.ok()) << probed.error().message;
  const Machine& machine = *probed;
  const Status sound = check_machine(machine);
  EXPECT_TRUE(sound.ok()) << sound.error().message;
  EXPECT_EQ(machine.id, machine_id(cpu));
  EXPECT_EQ(machine.cpu_model, cpu.model);
  EXPECT_EQ(machine.cores, cpu.cores);
  EXPECT_EQ(machine.isas, cpu.isas);
  EXPECT_EQ(machine.widest_isa, vector_isas(cpu).back());
  EXPECT_EQ(machine.memory_bytes, cpu.memory_bytes);
  EXPECT_EQ(machine.measured_at.size(), std::string("2024-01-01T00:00:00Z").size());
  EXPECT_EQ(machine.measured_at.back(), 'Z');
  EXPECT_GT(steps, 0);

  std::set<std::pair<std::string, int>> peaks;
  for (const FmaPeak& peak : machine.peaks) peaks.emplace(peak.isa, peak.threads);
  for (const std::string& isa : vector_isas(cpu))
    for (const int threads : {1, cpu.cores}) EXPECT_TRUE(peaks.count({isa, threads})) << isa << ", " << threads << " threads";

  std::set<std::tuple<std::string, int, double>> points;
  for (const BandwidthPoint& point : machine.bandwidth) points.emplace(point.pattern, point.threads, point.working_set_bytes);
  for (const int threads : {1, cpu.cores})
    for (const double set : working_sets(cpu, threads, kShort.most_bytes))
      for (const char* pattern : {"read", "write", "copy", "triad"})
        EXPECT_TRUE(points.count({pattern, threads, set})) << pattern << ", " << threads << " threads, " << set << " bytes";
}

TEST(Probe, LeavesOpenMpsSettingsAlone) {
  KW_NEEDS_OPENMP();
  const int before = omp_get_dynamic();
  omp_set_dynamic(1);
  EXPECT_TRUE(measure_fma_peak(vector_isas(detect_cpu()).front(), 1, 0.001).ok());
  EXPECT_EQ(omp_get_dynamic(), 1);
  omp_set_dynamic(before);
}

TEST(Probe, RefusesTeamsSmallerThanTheMachine) {
  KW_NEEDS_OPENMP();
  CpuInfo cpu = detect_cpu();
  cpu.cores = 2;
  std::string message;
  // Inside a region, teams have one thread.
  const int levels = omp_get_max_active_levels();
  omp_set_max_active_levels(1);
#pragma omp parallel num_threads(2)
  {
#pragma omp master
    {
      const Result<Machine> probed = probe_machine(cpu, kShort);
      message = probed.ok() ? "accepted" : probed.error().message;
    }
  }
  omp_set_max_active_levels(levels);
  EXPECT_EQ(message, "OpenMP gives 1 of the 2 threads that the machine has");
}

TEST(FmaPeak, UnknownInstructionSetIsAnError) {
  const Result<double> peak = measure_fma_peak("mmx", 1, 0.001);
  ASSERT_FALSE(peak.ok());
  EXPECT_NE(peak.error().message.find("'mmx'"), std::string::npos) << peak.error().message;
}

TEST(Bandwidth, ASetTooSmallForItsThreadsIsAnError) {
  KW_NEEDS_OPENMP();
  EXPECT_FALSE(measure_bandwidth(detect_cpu(), 2, {100}, 0.001).ok());
}

}  // namespace
}  // namespace kw
