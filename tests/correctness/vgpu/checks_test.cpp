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

// A kernel of `threads` threads in one block; what its blocks wrote to `out`, one word a thread.
struct BarrierRun {
  LaunchReport report;
  std::vector<std::uint32_t> out;
};
BarrierRun run_barriers(const std::string& body, unsigned threads, const std::string& target = "sm_80", Dim3 cluster = {}) {
  DeviceOptions options;
  options.launch_deadline_seconds = 5;
  Rig rig(options);
  rig.cluster = cluster;
  rig.load_text(".version 8.0\n.target " + target + R"(
.address_size 64
.visible .entry meet(.param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<6>; .reg .b64 %rd<4>; .shared .b64 bar;
  mov.u32 %r1, %tid.x; mov.u32 %r5, %ctaid.x; mad.lo.u32 %r5, %r5, )" +
                std::to_string(threads) + ", %r1;\n" + R"(
  ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r5, 4; add.u64 %rd2, %rd1, %rd2;
)" + body + "\n}");
  const std::uint32_t blocks = cluster.x;
  auto* out = rig.upload(std::vector<std::uint32_t>(threads * blocks, 7), "out");
  BarrierRun run{rig.run("meet", {blocks}, {threads}, 0, out), {}};
  run.out.assign(out, out + threads * blocks);
  return run;
}

struct BarrierCase {
  const char* name;
  const char* body;
  const char* finding;  // "" where the kernel is right
  unsigned threads = 64;
};

const BarrierCase kBarrierCases[] = {
    {"early_return", "setp.ge.u32 %p1, %r1, 41; @%p1 bra END; bar.sync 0; st.global.u32 [%rd2], 1; END: ret;", ""},
    {"guarded_body", "setp.lt.u32 %p1, %r1, 41; @%p1 bra BODY; bra END; BODY: bar.sync 0; st.global.u32 [%rd2], 1; END: ret;", ""},
    {"loop_of_other_lengths",
     "mov.u32 %r2, 0; AGAIN: bar.sync 0; add.u32 %r2, %r2, 5; setp.le.u32 %p1, %r2, %r1; @%p1 bra AGAIN; ret;", ""},
    {"ended_later",
     "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra EVEN; st.global.u32 [%rd2], 2; ret; EVEN: bar.sync 0; ret;", ""},
    {"votes_of_those_that_live",
     "setp.ge.u32 %p1, %r1, 41; @%p1 exit; setp.lt.u32 %p2, %r1, 41; bar.red.popc.u32 %r2, 0, %p2; bar.red.and.pred %p3, 0, %p2; "
     "setp.ne.u32 %p1, %r2, 41; @%p1 trap; @!%p3 trap; ret;",
     ""},
    {"warp_that_ended_in_part_counts_whole", "setp.ge.u32 %p1, %r1, 41; @%p1 exit; bar.sync 1, 64; ret;", ""},
    {"count_of_a_warp_that_ended", "setp.ge.u32 %p1, %r1, 32; @%p1 exit; bar.sync 1, 64; ret;", "deadlock"},
    {"arrive_and_sync", "setp.ge.u32 %p1, %r1, 32; @%p1 bra SYNC; bar.arrive 1, 64; ret; SYNC: bar.sync 1, 64; ret;", ""},
    {"lanes_that_ended_are_not_named",
     "setp.ge.u32 %p1, %r1, 5; @%p1 exit; bar.warp.sync 0xffffffff; mov.u32 %r2, 1; shfl.sync.bfly.b32 %r3, %r2, 0, 31, "
     "0xffffffff; "
     "vote.sync.ballot.b32 %r4, 1, 0xffffffff; setp.ne.u32 %p2, %r4, 31; @%p2 trap; ret;",
     "", 32},
    {"value_of_a_lane_that_ended",
     "setp.ge.u32 %p1, %r1, 5; @%p1 exit; shfl.sync.down.b32 %r3, %r1, 4, 31, 0xffffffff; st.global.u32 [%rd2], %r3; ret;",
     "uninitialised", 32},
    {"mbarrier_counts_who_arrives",
     "mov.u32 %r2, bar; setp.ne.u32 %p1, %r1, 0; @!%p1 mbarrier.init.shared.b64 [%r2], 41; bar.sync 0; setp.ge.u32 %p2, %r1, 41; "
     "@%p2 exit; mbarrier.arrive.shared.b64 %rd3, [%r2]; AGAIN: mbarrier.test_wait.shared.b64 %p3, [%r2], %rd3; @!%p3 bra AGAIN; "
     "ret;",
     ""},
    {"mbarrier_waits_for_its_count",
     "mov.u32 %r2, bar; setp.ne.u32 %p1, %r1, 0; @!%p1 mbarrier.init.shared.b64 [%r2], 64; bar.sync 0; setp.ge.u32 %p2, %r1, 41; "
     "@%p2 exit; mbarrier.arrive.shared.b64 %rd3, [%r2]; AGAIN: mbarrier.test_wait.shared.b64 %p3, [%r2], %rd3; @!%p3 bra AGAIN; "
     "ret;",
     "timeout"},
    {"two_ways_of_a_warp",
     "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra EVEN; bar.sync 0; bra END; EVEN: bar.sync 0; "
     "END: st.global.u32 [%rd2], 1; ret;",
     "divergent_barrier"},
    {"lanes_with_more_to_do", "setp.lt.u32 %p1, %r1, 41; @!%p1 bra AFTER; bar.sync 0; AFTER: st.global.u32 [%rd2], 1; ret;",
     "divergent_barrier"},
    {"each_thread_for_itself",
     "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra EVEN; barrier.sync 0; bra END; EVEN: barrier.sync 0; "
     "END: st.global.u32 [%rd2], 1; ret;",
     ""},
};

TEST(VgpuChecks, BarriersWaitForTheLanesThatHaveNotEnded) {
  for (const BarrierCase& each : kBarrierCases) {
    SCOPED_TRACE(each.name);
    const BarrierRun run = run_barriers(each.body, each.threads);
    if (*each.finding == '\0')
      EXPECT_TRUE(run.report.ok()) << findings_text(run.report);
    else
      EXPECT_NE(find_kind(run.report, each.finding), nullptr) << findings_text(run.report);
  }
}

TEST(VgpuChecks, BarriersOfAClusterWaitForTheLanesThatHaveNotEnded) {
  // Lanes end after the others have arrived; others arrive and end without waiting. Neither may be missed, nor counted twice.
  const std::pair<const char*, const char*> bodies[] = {
      {"end_late",
       "setp.lt.u32 %p1, %r5, 70; @%p1 bra STAY; mov.u32 %r2, 0; AGAIN: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 50; @%p2 bra "
       "AGAIN; "
       "exit; STAY: barrier.cluster.arrive; barrier.cluster.wait; st.global.u32 [%rd2], 1; ret;"},
      {"arrive_and_end",
       "setp.ge.u32 %p1, %r5, 64; @%p1 bra SLOW; barrier.cluster.arrive; exit; SLOW: st.global.u32 [%rd2], 2; "
       "barrier.cluster.arrive; "
       "barrier.cluster.wait; ret;"}};
  for (const auto& [name, body] : bodies) {
    SCOPED_TRACE(name);
    const BarrierRun run = run_barriers(body, 64, "sm_90", {2});
    EXPECT_TRUE(run.report.ok()) << findings_text(run.report);
  }
}

TEST(VgpuChecks, LanesThatEndDoNotKeepOthersFromABarrier) {
  Rig rig;
  rig.load_kernels();
  auto* y = rig.empty<float>(64, "y");
  const LaunchReport report = rig.run("barrier_of_even_threads", {1}, {64}, 0, y);
  EXPECT_TRUE(report.ok()) << findings_text(report);
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
