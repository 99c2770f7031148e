// Counters where the answer is known by hand.
#include <gtest/gtest.h>

#include "support/vgpu_rig.h"

namespace kw::vgpu {
namespace {

TEST(VgpuCounters, SectorsOfStridedLoads) {
  Rig rig;
  rig.load_kernels();
  float* x = rig.upload(std::vector<float>(32 * 32, 1), "x");
  auto* y = rig.empty<float>(32, "y");
  const std::pair<int, std::uint64_t> cases[] = {{0, 1}, {1, 4}, {2, 8}, {4, 16}, {8, 32}, {32, 32}};
  for (const auto& [stride, sectors] : cases) {
    const LaunchReport report = rig.run("strided", {1}, {32}, 0, stride, x, y);
    EXPECT_TRUE(report.ok()) << findings_text(report);
    EXPECT_EQ(report.counters.global_load_requests, 1u);
    EXPECT_EQ(report.counters.global_load_sectors, sectors) << stride;
    EXPECT_EQ(report.counters.global_load_bytes, 128u);
    EXPECT_EQ(report.counters.global_store_sectors, 4u);
    EXPECT_EQ(report.counters.l1_misses, sectors);
    EXPECT_EQ(report.counters.dram_bytes, (sectors + 4) * 32);
  }
}

TEST(VgpuCounters, BankConflicts) {
  Rig rig;
  rig.load_kernels();
  auto* y = rig.empty<float>(32, "y");
  for (const int stride : {1, 2, 3, 4, 8, 16, 17, 32}) {
    const LaunchReport report = rig.run("banks", {1}, {32}, 32 * 32 * 4, stride, y);
    EXPECT_TRUE(report.ok()) << findings_text(report);
    std::uint64_t ways = 1;
    while (stride % static_cast<int>(ways * 2) == 0 && ways < 32) ways *= 2;
    EXPECT_EQ(report.counters.shared_wavefronts, 2 * ways) << stride;
    EXPECT_EQ(report.counters.shared_conflicts, 2 * (ways - 1)) << stride;
    EXPECT_EQ(report.counters.shared_load_requests, 1u);
    EXPECT_EQ(report.counters.shared_store_requests, 1u);
    EXPECT_EQ(report.counters.barriers, 1u);
  }
}

TEST(VgpuCounters, DivergenceAndLanes) {
  Rig rig;
  rig.load_text(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry diverge(.param .u32 limit) {
  .reg .pred %p1; .reg .b32 %r<4>; .reg .f32 %f<3>;
  ld.param.u32 %r1, [limit];
  mov.u32 %r2, %tid.x;
  mov.f32 %f1, 0f3F800000;
  setp.ge.u32 %p1, %r2, %r1;
  @%p1 bra END;
  fma.rn.f32 %f2, %f1, %f1, %f1;
  add.f32 %f2, %f2, %f1;
END:
  ret;
})");
  const std::uint32_t limits[] = {0, 1, 10, 32};
  for (const std::uint32_t limit : limits) {
    const LaunchReport report = rig.run("diverge", {2}, {32}, 0, limit);
    EXPECT_EQ(report.counters.flops_fp32, 2 * 3 * limit);
    EXPECT_EQ(report.counters.branches, limit == 32 ? 0u : 2u);  // a branch that no lane takes is no branch that is executed
    EXPECT_EQ(report.counters.divergent_branches, limit == 0 || limit == 32 ? 0u : 2u);
    const auto& issued = report.counters.issued;
    EXPECT_EQ(issued[static_cast<std::size_t>(Pipe::fp32)], limit == 0 ? 0u : 4u);
    EXPECT_EQ(report.counters.lines.size(), 1u);
  }
}

TEST(VgpuCounters, LinesOfTheSource) {
  Rig rig;
  rig.load_kernels();
  const int n = 32;
  float* a = rig.upload(std::vector<float>(n * n, 1), "a");
  auto* c = rig.empty<float>(n * n, "c");
  const LaunchReport report = rig.run("tiled_product", {2, 2}, {16, 16}, 0, n, a, a, c);
  const int inner = line_with("for (int i = 0; i < 16; ++i) sum +=");
  std::uint64_t flops = 0, all = 0;
  for (const auto& [where, line] : report.counters.lines) {
    all += line.warp_instructions;
    if (where.second == inner) {
      flops = line.flops_fp32;
      EXPECT_NE(where.first.find("kernels.cu"), std::string::npos);
    }
  }
  EXPECT_EQ(flops, 2ull * n * n * n);
  EXPECT_EQ(all, report.counters.warp_instructions);
  EXPECT_EQ(report.counters.barriers, 4u * 8u * 2u * 2u);  // blocks, warps, steps, barriers of a step
}

TEST(VgpuCounters, SecondReadHitsTheCache) {
  Rig rig;
  rig.load_text(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry again(.param .u64 x) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<3>;
  ld.param.u64 %rd1, [x];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  ld.global.f32 %f2, [%rd3];
  ret;
})");
  float* x = rig.upload(std::vector<float>(32, 1), "x");
  const LaunchReport report = rig.run("again", {1}, {32}, 0, x);
  EXPECT_EQ(report.counters.l1_misses, 4u);
  EXPECT_EQ(report.counters.l1_hits, 4u);
}

}  // namespace
}  // namespace kw::vgpu
