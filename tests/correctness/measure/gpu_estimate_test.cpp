// What an estimate is made of beside launches, and which one cannot be.
#include <gtest/gtest.h>

#include "measure/gpu_estimate.h"
#include "vgpu/report_json.h"

namespace kw {
namespace {

// Reads and writes 64 MB.
ProblemDescription copy_of_64_mb() {
  ProblemDescription problem;
  problem.bytes = problem.essential_bytes = 128e6;
  return problem;
}

vgpu::GpuSheet a100() { return vgpu::load_gpu_sheet("a100").value(); }

std::string lines_of(std::uint64_t dram_bytes) {
  vgpu::LaunchRecord launch;
  launch.kernel = "k";
  launch.grid = {62500, 1, 1};
  launch.block = {256, 1, 1};
  launch.report.blocks = launch.report.blocks_run = 62500;
  launch.report.counters.dram_bytes = dram_bytes;
  launch.report.counters.l2_misses = dram_bytes / 32;
  Json json = launch;
  json["event"] = "launch";
  return json.dump() + "\n";
}

TEST(GpuEstimate, BelowWhatTheBytesTakeIsNotBelieved) {
  const ProblemDescription problem = copy_of_64_mb();
  for (const auto& [share, believed] : {std::pair{1.0, true}, {0.7, true}, {0.3, false}, {0.0, false}}) {
    const auto estimate = estimate_of_report(lines_of(static_cast<std::uint64_t>(share * 128e6)), "", problem, a100(), "float32");
    ASSERT_TRUE(estimate.ok());
    const auto doubt = too_fast_to_be_true(*estimate, problem, a100());
    EXPECT_EQ(!doubt, believed) << share;
    if (doubt) {
      EXPECT_NE(doubt->evidence.front().find("128 MB"), std::string::npos) << doubt->evidence.front();
    }
  }
}

TEST(GpuEstimate, CopiesWithinTheDeviceTakeTheTimeOfTheirBytes) {
  const ProblemDescription problem = copy_of_64_mb();
  const std::string moved = R"({"event": "moved", "bytes": 128000000})";
  const auto estimate = estimate_of_report(moved + "\n", "", problem, a100(), "float32");
  ASSERT_TRUE(estimate.ok());
  EXPECT_GE(estimate->seconds, 128e6 / (a100().memory_gb_per_s * 1e9));
  EXPECT_EQ(estimate->limiting, "memory");
  EXPECT_FALSE(too_fast_to_be_true(*estimate, problem, a100()));
}

}  // namespace
}  // namespace kw
