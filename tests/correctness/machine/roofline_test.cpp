#include "machine/roofline.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kw {
namespace {

// Four cores, 100 GFLOP/s each, with a ladder that is easy to compute with. The write figure of the last rung and
// the read figure of the second are out of line on purpose.
constexpr const char* kPlanted = R"({
  "id": "planted", "cpu_model": "Planted 9000", "cores": 4, "isas": ["sse2", "avx2", "fma"], "widest_isa": "avx2",
  "l1d_bytes": 32768, "l2_bytes": 524288, "l3_bytes": 33554432, "memory_bytes": 17179869184,
  "peaks": [{"isa": "sse2", "threads": 1, "gflops": 50}, {"isa": "avx2", "threads": 1, "gflops": 100},
            {"isa": "sse2", "threads": 4, "gflops": 180}, {"isa": "avx2", "threads": 4, "gflops": 360}],
  "bandwidth": [
    {"pattern": "read", "threads": 1, "working_set_bytes": 16384, "gbytes_per_second": 200},
    {"pattern": "triad", "threads": 1, "working_set_bytes": 16384, "gbytes_per_second": 250},
    {"pattern": "read", "threads": 1, "working_set_bytes": 1048576, "gbytes_per_second": 30},
    {"pattern": "read", "threads": 1, "working_set_bytes": 16777216, "gbytes_per_second": 40},
    {"pattern": "read", "threads": 1, "working_set_bytes": 134217728, "gbytes_per_second": 10},
    {"pattern": "write", "threads": 1, "working_set_bytes": 134217728, "gbytes_per_second": 20},
    {"pattern": "copy", "threads": 4, "working_set_bytes": 65536, "gbytes_per_second": 800},
    {"pattern": "copy", "threads": 4, "working_set_bytes": 1048576, "gbytes_per_second": 400},
    {"pattern": "copy", "threads": 4, "working_set_bytes": 16777216, "gbytes_per_second": 100},
    {"pattern": "copy", "threads": 4, "working_set_bytes": 134217728, "gbytes_per_second": 20}],
  "openmp_region_seconds": 1e-6, "measured_at": "2024-01-01T00:00:00Z"})";

// Sizes from 100 bytes to beyond the ladder, each `factor` times the one before.
std::vector<double> sizes(double factor) {
  std::vector<double> all{100};
  while (all.back() < 1e10) all.push_back(all.back() * factor);
  return all;
}

Machine planted() { return Json::parse(kPlanted).get<Machine>(); }

constexpr double kLarge = 1e9;  // bytes: beyond every rung, where four threads see 20 GB/s

TEST(Roofline, MachineSurvivesJson) {
  const Json once = planted();
  const Json twice = Json::parse(once.dump()).get<Machine>();
  EXPECT_EQ(once, twice);
  EXPECT_EQ(once, Json::parse(kPlanted));
}

TEST(Roofline, BandwidthAtARungIsTheBestPatternOfIt) {
  EXPECT_DOUBLE_EQ(bandwidth_ceiling(planted(), 16384, 1), 250);
  EXPECT_DOUBLE_EQ(bandwidth_ceiling(planted(), 16777216, 4), 100);
}

TEST(Roofline, BandwidthBeyondTheLadderIsThatOfItsEnds) {
  EXPECT_DOUBLE_EQ(bandwidth_ceiling(planted(), 1, 1), 250);
  EXPECT_DOUBLE_EQ(bandwidth_ceiling(planted(), 0, 1), 250);
  EXPECT_DOUBLE_EQ(bandwidth_ceiling(planted(), kLarge, 1), 10);
}

TEST(Roofline, WriteAloneIsNoCeilingForWorkThatReads) { EXPECT_DOUBLE_EQ(bandwidth_ceiling(planted(), kLarge, 1), 10); }

TEST(Roofline, ASmallerSetInheritsTheCeilingOfALargerOne) { EXPECT_DOUBLE_EQ(bandwidth_ceiling(planted(), 1048576, 1), 40); }

TEST(Roofline, BandwidthBetweenRungsIsInterpolated) {
  // Half way from 2^20 to 2^24 on the logarithm.
  EXPECT_NEAR(bandwidth_ceiling(planted(), 1 << 22, 4), 250, 1e-9);
}

TEST(Roofline, BandwidthNeverRisesWithTheWorkingSet) {
  const Machine machine = planted();
  for (int threads = 1; threads <= 5; ++threads) {
    double before = INFINITY;
    for (const double bytes : sizes(1.07)) {
      const double now = bandwidth_ceiling(machine, bytes, threads);
      EXPECT_LE(now, before * (1 + 1e-12)) << bytes << " bytes, " << threads << " threads";
      before = now;
    }
  }
}

TEST(Roofline, MoreThreadsNeverHaveALowerCeiling) {
  const Machine machine = planted();
  for (const double bytes : sizes(3))
    for (int threads = 2; threads <= 6; ++threads) {
      EXPECT_GE(bandwidth_ceiling(machine, bytes, threads), bandwidth_ceiling(machine, bytes, threads - 1));
      EXPECT_GE(compute_ceiling(machine, threads), compute_ceiling(machine, threads - 1));
    }
}

TEST(Roofline, ComputeCeilingIsTheBestInstructionSet) {
  EXPECT_DOUBLE_EQ(compute_ceiling(planted(), 1), 100);
  EXPECT_DOUBLE_EQ(compute_ceiling(planted(), 3), 300);
  EXPECT_DOUBLE_EQ(compute_ceiling(planted(), 4), 360);
  EXPECT_DOUBLE_EQ(compute_ceiling(planted(), 64), 360);
}

TEST(Roofline, FloorIsTheLargerOfComputeAndMemory) {
  const Workload memory_bound{1e9, kLarge, kLarge};
  const Roofline roofline = roofline_of(planted(), memory_bound, 4);
  EXPECT_DOUBLE_EQ(roofline.memory_seconds, 0.05);
  EXPECT_DOUBLE_EQ(roofline.compute_seconds, 1.0 / 360);
  EXPECT_DOUBLE_EQ(roofline.floor_seconds, 0.05);
  EXPECT_DOUBLE_EQ(floor_seconds(planted(), memory_bound, 4), 0.05);
  EXPECT_DOUBLE_EQ(roofline.intensity, 1);
  EXPECT_DOUBLE_EQ(roofline.ridge, 18);
}

TEST(Roofline, Zones) {
  const Machine machine = planted();
  EXPECT_EQ(zone_of(machine, {kLarge * 1, kLarge, 0}, 4), Zone::memory);
  EXPECT_EQ(zone_of(machine, {kLarge * 8.9, kLarge, 0}, 4), Zone::memory);
  EXPECT_EQ(zone_of(machine, {kLarge * 9.1, kLarge, 0}, 4), Zone::balanced);
  EXPECT_EQ(zone_of(machine, {kLarge * 18, kLarge, 0}, 4), Zone::balanced);
  EXPECT_EQ(zone_of(machine, {kLarge * 35.9, kLarge, 0}, 4), Zone::balanced);
  EXPECT_EQ(zone_of(machine, {kLarge * 36.1, kLarge, 0}, 4), Zone::compute);
  EXPECT_EQ(zone_of(machine, {1e3, 4096, 4096}, 4), Zone::latency);
}

TEST(Roofline, UnknownFlopsLeaveTheMemoryTerm) {
  const Roofline roofline = roofline_of(planted(), {std::nullopt, kLarge, kLarge}, 4);
  EXPECT_EQ(roofline.zone, Zone::memory);
  EXPECT_EQ(roofline.compute_seconds, 0);
  EXPECT_DOUBLE_EQ(roofline.floor_seconds, 0.05);
}

TEST(Roofline, SlowParallelRegionsWidenTheLatencyZone) {
  Machine machine = planted();
  const Workload short_work{1e4, 2e6, 2e6};  // more than 20 us on one thread, and less than 100 us
  ASSERT_EQ(zone_of(machine, short_work, 1), Zone::memory);
  machine.openmp_region_seconds = 20e-6;
  EXPECT_EQ(zone_of(machine, short_work, 1), Zone::memory) << "one thread opens no region";
  const Workload for_four{1e4, 5e6, 5e6};
  EXPECT_EQ(zone_of(planted(), for_four, 4), Zone::memory);
  EXPECT_EQ(zone_of(machine, for_four, 4), Zone::latency);
}

TEST(Roofline, ZoneNames) {
  EXPECT_EQ(name_of(Zone::memory), "memory");
  EXPECT_EQ(name_of(Zone::balanced), "balanced");
  EXPECT_EQ(name_of(Zone::compute), "compute");
  EXPECT_EQ(name_of(Zone::latency), "latency");
}

TEST(Roofline, MemoryFloorTakesEssentialBytesAtTheMostGenerousRate) {
  // 2 MiB lies between the rungs of 400 and 100 GB/s: it gets 400.
  EXPECT_DOUBLE_EQ(memory_floor_seconds(planted(), {1e15, 1e12, 2097152}, 4), 2097152 / 400e9);
  // Writing counts here.
  EXPECT_DOUBLE_EQ(memory_floor_seconds(planted(), {std::nullopt, 0, kLarge}, 1), 0.05);
  EXPECT_EQ(memory_floor_seconds(planted(), {std::nullopt, kLarge, 0}, 4), 0);
}

TEST(Roofline, MemoryFloorIsNeverAboveTheIdealTime) {
  const Machine machine = planted();
  for (int threads = 1; threads <= 5; ++threads)
    for (const double bytes : sizes(1.3)) {
      const Workload workload{std::nullopt, bytes, bytes};
      EXPECT_LE(memory_floor_seconds(machine, workload, threads), floor_seconds(machine, workload, threads) * (1 + 1e-12))
          << bytes << " bytes, " << threads << " threads";
    }
}

TEST(Roofline, ShareOfCeiling) {
  const Roofline roofline = roofline_of(planted(), {1e9, kLarge, kLarge}, 4);
  EXPECT_DOUBLE_EQ(share_of_ceiling(roofline, 0.1), 0.5);
  EXPECT_DOUBLE_EQ(share_of_ceiling(roofline, 0.05), 1);
  EXPECT_EQ(share_of_ceiling(roofline, 0), 0);
}

TEST(Roofline, AMachineWithoutCeilingsGivesNoFloor) {
  const Machine empty;
  const Workload workload{1e9, 1e9, 1e9};
  EXPECT_EQ(bandwidth_ceiling(empty, 1e6, 1), 0);
  EXPECT_EQ(floor_seconds(empty, workload, 2), 0);
  EXPECT_EQ(memory_floor_seconds(empty, workload, 2), 0);
}

TEST(Roofline, ASingleCoreHasOneLadder) {
  Machine machine = planted();
  machine.cores = 1;
  EXPECT_DOUBLE_EQ(bandwidth_ceiling(machine, kLarge, 8), 10);
  EXPECT_DOUBLE_EQ(compute_ceiling(machine, 8), 100);
}

}  // namespace
}  // namespace kw
