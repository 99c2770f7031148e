// Each check finds its bug, with the right line, thread and allocation, and finds nothing where there is no bug.
#include <gtest/gtest.h>

#include "support/vgpu_rig.h"

namespace kw::vgpu {
namespace {

TEST(VgpuChecks, OutOfBoundsNamesLineThreadAndAllocation) {
  Rig rig;
  rig.load_kernels();
  float* x = rig.upload(std::vector<float>(1024, 1), "x");
  float* y = rig.upload(std::vector<float>(1000, 1), "y");
  const LaunchReport report = rig.run("saxpy_unbounded", {4}, {256}, 0, 1000, 1.0f, x, y);
  const Finding* found = find_kind(report, "out_of_bounds");
  ASSERT_NE(found, nullptr) << findings_text(report);
  EXPECT_EQ(found->allocation, "y");
  EXPECT_EQ(found->line, line_with("saxpy_unbounded") + 2);
  EXPECT_EQ(found->kernel, "saxpy_unbounded");
  EXPECT_EQ(found->block, (Dim3{3, 0, 0}));
  EXPECT_EQ(found->thread, (Dim3{232, 0, 0}));
  EXPECT_TRUE(found->fatal);
  EXPECT_NE(found->message.find("byte 4000 of 'y', which has 4000 bytes"), std::string::npos) << found->message;
}

TEST(VgpuChecks, LaunchesThatAreLongOverRaceWithNothing) {
  Rig rig;
  rig.load_kernels();
  float* x = rig.upload(std::vector<float>(1024, 1), "x");
  float* y = rig.upload(std::vector<float>(1024, 1), "y");
  EXPECT_TRUE(rig.run("saxpy", {4}, {256}, 0, 1024, 1.0f, x, y).findings.empty());
  // The number by which shadows know a launch comes round; by then the elements have other blocks.
  for (int i = 1; i < 4095; ++i) ASSERT_TRUE(rig.run("saxpy", {1}, {32}, 0, 32, 1.0f, x, y).findings.empty());
  for (int i = 0; i < 3; ++i) {
    const LaunchReport report = rig.run("saxpy", {8}, {128}, 0, 1024, 1.0f, x, y);
    EXPECT_TRUE(report.findings.empty()) << findings_text(report);
  }
}

TEST(VgpuChecks, AnotherTensorsShadowsAreNoFindings) {
  Rig rig;
  rig.load_kernels();
  for (const unsigned threads : {256u, 128u, 64u}) {
    float* x = rig.upload(std::vector<float>(1024, 1), "x");
    float* y = rig.upload(std::vector<float>(1024, 1), "y");
    const LaunchReport report = rig.run("saxpy", {1024 / threads}, {threads}, 0, 1024, 1.0f, x, y);
    EXPECT_TRUE(report.findings.empty()) << findings_text(report);
    ASSERT_TRUE(rig.device.release(x).ok() && rig.device.release(y).ok());
  }
}

TEST(VgpuChecks, NullAndFreedPointers) {
  Rig rig;
  rig.load_kernels();
  float* y = rig.upload(std::vector<float>(32, 1), "y");
  float* null = nullptr;
  const LaunchReport first = rig.run("saxpy", {1}, {32}, 0, 32, 1.0f, null, y);
  ASSERT_NE(find_kind(first, "out_of_bounds"), nullptr);
  EXPECT_NE(first.findings[0].message.find("null pointer"), std::string::npos) << first.findings[0].message;
  float* x = rig.upload(std::vector<float>(32, 1), "x");
  ASSERT_TRUE(rig.device.release(x).ok());
  const LaunchReport second = rig.run("saxpy", {1}, {32}, 0, 32, 1.0f, x, y);
  ASSERT_NE(find_kind(second, "out_of_bounds"), nullptr);
  EXPECT_NE(second.findings[0].message.find("'x', which was freed"), std::string::npos) << second.findings[0].message;
  EXPECT_FALSE(rig.device.release(x).ok());
}

TEST(VgpuChecks, MisalignedVectorLoad) {
  Rig rig;
  rig.load_kernels();
  auto* x = rig.upload(std::vector<char>(4096, 1), "x");
  auto* y = rig.empty<float>(128, "y");
  const LaunchReport report = rig.run("misaligned", {1}, {32}, 0, x, y);
  const Finding* found = find_kind(report, "misaligned");
  ASSERT_NE(found, nullptr) << findings_text(report);
  EXPECT_EQ(found->line, line_with("void misaligned"));
  EXPECT_EQ(found->allocation, "x");
}

TEST(VgpuChecks, UninitialisedGlobalMemory) {
  Rig rig;
  rig.load_kernels();
  auto* x = rig.empty<float>(64, "x");
  float* y = rig.upload(std::vector<float>(64, 1), "y");
  rig.device.note_host_write(x, 32 * sizeof(float));
  const LaunchReport report = rig.run("saxpy", {1}, {64}, 0, 64, 1.0f, x, y);
  const Finding* found = find_kind(report, "uninitialised");
  ASSERT_NE(found, nullptr) << findings_text(report);
  EXPECT_EQ(found->allocation, "x");
  EXPECT_EQ(found->count, 32u);
  EXPECT_EQ(found->thread, (Dim3{32, 0, 0}));
  EXPECT_FALSE(found->fatal);
}

TEST(VgpuChecks, UninitialisedSharedMemory) {
  Rig rig;
  rig.load_kernels();
  float* x = rig.upload(std::vector<float>(64, 1), "x");
  auto* y = rig.empty<float>(64, "y");
  const LaunchReport report = rig.run("read_uninitialised", {1}, {64}, 0, x, y);
  const Finding* found = find_kind(report, "uninitialised");
  ASSERT_NE(found, nullptr) << findings_text(report);
  EXPECT_EQ(found->line, line_with("y[threadIdx.x] = tile[threadIdx.x];"));
  EXPECT_EQ(found->allocation, "shared memory");
}

TEST(VgpuChecks, SharedRaceWithoutBarrier) {
  Rig rig;
  rig.load_kernels();
  float* x = rig.upload(std::vector<float>(256, 1), "x");
  auto* y = rig.empty<float>(256, "y");
  const LaunchReport report = rig.run("reverse_racy", {1}, {256}, 0, 256, x, y);
  const Finding* race = find_kind(report, "shared_race");
  ASSERT_NE(race, nullptr) << findings_text(report);
  const int write = line_with("tile[threadIdx.x] = x[threadIdx.x];\n  y[");
  EXPECT_TRUE(race->line == write || race->line == write + 1) << race->line;
}

TEST(VgpuChecks, AsynchronousCopyThatIsNotWaitedFor) {
  Rig rig;
  rig.load_kernels();
  float* x = rig.upload(std::vector<float>(512, 1), "x");
  auto* y = rig.empty<float>(512, "y");
  const LaunchReport report = rig.run("async_copy_unwaited", {1}, {128}, 0, x, y);
  ASSERT_TRUE(find_kind(report, "shared_race") != nullptr || find_kind(report, "uninitialised") != nullptr)
      << findings_text(report);
}

TEST(VgpuChecks, GlobalRaceBetweenBlocks) {
  DeviceOptions options;
  options.threads = 1;
  Rig rig(options);
  rig.load_kernels();
  float* x = rig.upload(std::vector<float>(512, 1), "x");
  const LaunchReport report = rig.run("stencil_in_place", {4}, {128}, 0, 512, x);
  const Finding* race = find_kind(report, "global_race");
  ASSERT_NE(race, nullptr) << findings_text(report);
  EXPECT_EQ(race->line, line_with("x[i] = x[i] + x[i + 1]"));
  EXPECT_EQ(race->allocation, "x");
  EXPECT_EQ(race->count, 3u);
}

TEST(VgpuChecks, DivergentBarrier) {
  Rig rig;
  rig.load_kernels();
  auto* y = rig.empty<float>(64, "y");
  const LaunchReport report = rig.run("divergent_barrier", {1}, {64}, 0, y);
  const Finding* found = find_kind(report, "divergent_barrier");
  ASSERT_NE(found, nullptr) << findings_text(report);
  EXPECT_EQ(found->line, line_with("    __syncthreads();\n    y[threadIdx.x] = tile[(threadIdx.x + 33) % 64];"));
}

TEST(VgpuChecks, AssertAndTrapStopTheLaunch) {
  Rig rig;
  rig.load_kernels();
  rig.device.set_printf_sink([](std::string_view) {});
  const LaunchReport report = rig.run("talk", {1}, {32}, 0, 7, 1.0f);
  const Finding* found = find_kind(report, "assert");
  ASSERT_NE(found, nullptr) << findings_text(report);
  EXPECT_NE(found->message.find("n < 5"), std::string::npos) << found->message;
}

TEST(VgpuChecks, TimeoutEndsAnEndlessLoop) {
  DeviceOptions options;
  options.launch_deadline_seconds = 0.3;
  Rig rig(options);
  rig.load_kernels();
  int* flag = rig.upload(std::vector<int>{0}, "flag");
  const LaunchReport report = rig.run("forever", {2}, {64}, 0, flag);
  ASSERT_NE(find_kind(report, "timeout"), nullptr) << findings_text(report);
  EXPECT_TRUE(report.findings[0].fatal);
}

TEST(VgpuChecks, LaunchLimits) {
  Rig rig;
  rig.load_kernels();
  auto* y = rig.empty<float>(64, "y");
  EXPECT_EQ(rig.run("banks", {1}, {32}, 200 * 1024, 1, y).findings.at(0).kind, "launch_limit");
  EXPECT_EQ(rig.run("banks", {1}, {1025}, 128, 1, y).findings.at(0).kind, "launch_limit");
  EXPECT_EQ(rig.run("banks", {1}, {0}, 128, 1, y).findings.at(0).kind, "launch_limit");
  // Beyond the dynamic shared memory that the launch gives.
  const LaunchReport report = rig.run("banks", {1}, {32}, 64, 1, y);
  ASSERT_NE(find_kind(report, "out_of_bounds"), nullptr) << findings_text(report);
  EXPECT_EQ(report.findings[0].allocation, "shared memory");
}

constexpr std::string_view kChecksHead = ".version 8.0\n.target sm_80\n.address_size 64\n";

TEST(VgpuChecks, DeadlockAtABarrierThatSomeThreadsNeverReach) {
  Rig rig;
  rig.load_text(std::string(kChecksHead) + R"(
.visible .entry stuck() {
  .reg .pred %p1; .reg .b32 %r1;
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 32;
  @%p1 bar.sync 1, 64;
  @!%p1 bar.sync 2, 64;
  ret;
})");
  const LaunchReport report = rig.run("stuck", {1}, {64}, 0);
  ASSERT_NE(find_kind(report, "deadlock"), nullptr) << findings_text(report);
}

TEST(VgpuChecks, TimeoutEndsAnEndlessLoopOverABarrier) {
  DeviceOptions options;
  options.launch_deadline_seconds = 0.2;
  Rig rig(options);
  rig.load_text(std::string(kChecksHead) + ".visible .entry loop() {\nAGAIN: bar.sync 0;\nbra AGAIN;\n}");
  const LaunchReport report = rig.run("loop", {1}, {64}, 0);
  ASSERT_NE(find_kind(report, "timeout"), nullptr) << findings_text(report);
}

// Both warps write their thread's number modulo `wrap` to the place of it: the same value with 32, others with 64.
std::string two_warps_write(int wrap) {
  return std::string(kChecksHead) + R"(
.visible .entry twice(.param .u64 out) {
  .reg .b32 %r<6>; .reg .b64 %rd<3>; .shared .b32 tile[32];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 31;
  and.b32 %r3, %r1, )" +
         std::to_string(wrap - 1) + R"(;
  shl.b32 %r4, %r2, 2;
  mov.u32 %r5, tile;
  add.u32 %r4, %r4, %r5;
  st.shared.u32 [%r4], %r3;
  bar.sync 0;
  ld.shared.u32 %r5, [%r4];
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd2, %rd1, %rd2;
  st.global.u32 [%rd2], %r5;
  ret;
})";
}

TEST(VgpuChecks, WarpsThatWriteTheSameToSharedMemoryDoNotRace) {
  Rig rig;
  rig.load_text(two_warps_write(32));
  auto* out = rig.empty<std::uint32_t>(64, "out");
  const LaunchReport report = rig.run("twice", {1}, {64}, 0, out);
  EXPECT_TRUE(report.ok()) << findings_text(report);
  EXPECT_EQ(out[40], 8u);
}

TEST(VgpuChecks, WarpsThatWriteOtherValuesToSharedMemoryRace) {
  Rig rig;
  rig.load_text(two_warps_write(64));
  auto* out = rig.empty<std::uint32_t>(64, "out");
  const LaunchReport report = rig.run("twice", {1}, {64}, 0, out);
  ASSERT_EQ(report.findings.size(), 1u) << findings_text(report);
  EXPECT_EQ(report.findings[0].kind, "shared_race");
}

TEST(VgpuChecks, TimeoutEndsThreadsThatPollAndThenMeet) {
  DeviceOptions options;
  options.launch_deadline_seconds = 0.2;
  Rig rig(options);
  rig.load_text(std::string(kChecksHead) + R"(
.visible .entry poll(.param .u64 flag) {
  .reg .b32 %r<3>; .reg .b64 %rd1; .reg .pred %p<3>;
  ld.param.u64 %rd1, [flag];
  mov.u32 %r1, %tid.x;
  setp.eq.u32 %p1, %r1, 0;
AGAIN:
  @%p1 atom.global.add.u32 %r2, [%rd1], 0;
  bar.sync 0;
  setp.lt.u32 %p2, %r1, 9999;
  @%p2 bra AGAIN;
  ret;
})");
  auto* flag = rig.upload(std::vector<std::uint32_t>(1, 0), "flag");
  const LaunchReport report = rig.run("poll", {1}, {128}, 0, flag);
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].kind, "timeout");
}

TEST(VgpuChecks, LanesThatWriteDifferentValuesToOnePlace) {
  Rig rig;
  rig.load_text(std::string(kChecksHead) + R"(
.visible .entry last(.param .u64 out) {
  .reg .b32 %r1; .reg .b64 %rd1;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  st.global.u32 [%rd1], 5;
  st.global.u32 [%rd1+4], %r1;
  ret;
})");
  auto* out = rig.empty<std::uint32_t>(2, "out");
  const LaunchReport report = rig.run("last", {1}, {32}, 0, out);
  ASSERT_EQ(report.findings.size(), 1u) << findings_text(report);
  EXPECT_EQ(report.findings[0].kind, "global_race");
  EXPECT_EQ(report.findings[0].allocation, "out");
}

TEST(VgpuChecks, CounterThatOneBlockClearsAndOthersUse) {
  DeviceOptions options;
  options.threads = 1;
  Rig rig(options);
  rig.load_text(std::string(kChecksHead) + R"(
.visible .entry cleared(.param .u64 count) {
  .reg .pred %p1; .reg .b32 %r<3>; .reg .b64 %rd1;
  ld.param.u64 %rd1, [count];
  mov.u32 %r1, %ctaid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra ADD;
  st.global.u32 [%rd1], 0;
ADD:
  red.global.add.u32 [%rd1], 1;
  ret;
})");
  auto* count = rig.upload(std::vector<std::uint32_t>{7}, "count");
  const LaunchReport report = rig.run("cleared", {3}, {32}, 0, count);
  const Finding* race = find_kind(report, "global_race");
  ASSERT_NE(race, nullptr) << findings_text(report);
  EXPECT_EQ(race->allocation, "count");
}

}  // namespace
}  // namespace kw::vgpu
