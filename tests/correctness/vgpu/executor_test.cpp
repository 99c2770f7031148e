// Kernels compiled by nvcc, and a few written by hand, give what a GPU gives.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "support/vgpu_rig.h"

namespace kw::vgpu {
namespace {

std::vector<float> ramp(std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(static_cast<int>(i % 97) - 48) / 8;
  return values;
}

TEST(VgpuExecutor, Saxpy) {
  Rig rig;
  rig.load_kernels();
  const std::vector<float> x = ramp(1000), y = ramp(1003);
  float* dx = rig.upload(x, "x");
  float* dy = rig.upload(std::vector<float>(y.begin(), y.begin() + 1000), "y");
  const LaunchReport report = rig.run("saxpy", {4}, {256}, 0, 1000, 3.0f, dx, dy);
  EXPECT_TRUE(report.ok()) << findings_text(report);
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(dy[i], std::fma(3.0f, x[i], y[i])) << i;
  EXPECT_EQ(report.counters.blocks, 4u);
  EXPECT_EQ(report.counters.threads, 1024u);
}

TEST(VgpuExecutor, BlockSumWithShufflesAndAtomics) {
  Rig rig;
  rig.load_kernels();
  std::vector<float> x(5000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 13);
  float* dx = rig.upload(x, "x");
  float* total = rig.upload(std::vector<float>{0}, "total");
  const LaunchReport report = rig.run("block_sum", {3}, {128}, 0, 5000, dx, total);
  EXPECT_TRUE(report.ok()) << findings_text(report);
  EXPECT_EQ(*total, std::accumulate(x.begin(), x.end(), 0.0f));
}

TEST(VgpuExecutor, TiledProduct) {
  Rig rig;
  rig.load_kernels();
  const int n = 64;
  const std::vector<float> a = ramp(n * n), b = ramp(n * n);
  float* da = rig.upload(a, "a");
  float* db = rig.upload(b, "b");
  auto* dc = rig.empty<float>(n * n, "c");
  const LaunchReport report = rig.run("tiled_product", {4, 4}, {16, 16}, 0, n, da, db, dc);
  EXPECT_TRUE(report.ok()) << findings_text(report);
  for (int row = 0; row < n; ++row) {
    for (int column = 0; column < n; ++column) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum = std::fma(a[row * n + k], b[k * n + column], sum);
      ASSERT_EQ(dc[row * n + column], sum) << row << ", " << column;
    }
  }
  EXPECT_EQ(report.counters.flops_fp32, 2ull * n * n * n);
}

TEST(VgpuExecutor, HistogramWithSharedAtomics) {
  Rig rig;
  rig.load_kernels();
  std::vector<unsigned char> x(10000);
  std::vector<unsigned> expected(256, 0);
  for (std::size_t i = 0; i < x.size(); ++i) ++expected[x[i] = static_cast<unsigned char>(i * i / 7)];
  auto* dx = rig.upload(x, "x");
  auto* bins = rig.upload(std::vector<unsigned>(256, 0), "bins");
  const LaunchReport report = rig.run("histogram", {5}, {192}, 0, 10000, dx, bins);
  EXPECT_TRUE(report.ok()) << findings_text(report);
  for (std::size_t i = 0; i < 256; ++i) ASSERT_EQ(bins[i], expected[i]) << i;
}

TEST(VgpuExecutor, LanesThatSpinOnALockMakeProgress) {
  DeviceOptions options;
  options.launch_deadline_seconds = 20;
  Rig rig(options);
  rig.load_kernels();
  int* lock = rig.upload(std::vector<int>{0}, "lock");
  int* sum = rig.upload(std::vector<int>{0}, "sum");
  const LaunchReport report = rig.run("locked_sum", {4}, {64}, 0, lock, sum);
  EXPECT_TRUE(report.ok()) << findings_text(report);
  EXPECT_EQ(*sum, 256);
}

TEST(VgpuExecutor, BlocksThatWaitForEachOtherMakeProgress) {
  DeviceOptions options;
  options.launch_deadline_seconds = 20;
  for (int threads : {1, 2}) {
    options.threads = threads;
    Rig rig(options);
    rig.load_kernels();
    auto* arrived = rig.upload(std::vector<unsigned>{0}, "arrived");
    int* data = rig.empty<int>(40, "data");
    int* out = rig.empty<int>(40, "out");
    const LaunchReport report = rig.run("grid_wait", {40}, {64}, 0, arrived, data, out);
    EXPECT_TRUE(report.ok()) << findings_text(report);
    for (int i = 0; i < 40; ++i) ASSERT_EQ(out[i], 820);
  }
}

// Each block waits a while and then adds one to a place of its own.
constexpr const char* kSlowBlocks = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry slow_blocks(.param .u64 places, .param .u32 rounds) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  .reg .pred %p;
  ld.param.u64 %rd0, [places];
  ld.param.u32 %r0, [rounds];
loop:
  add.u32 %r0, %r0, -1;
  setp.ne.u32 %p, %r0, 0;
  @%p bra loop;
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd1, %r1, 4;
  add.u64 %rd1, %rd0, %rd1;
  ld.global.u32 %r2, [%rd1];
  add.u32 %r2, %r2, 1;
  st.global.u32 [%rd1], %r2;
  ret;
}
)";

// Which blocks of a launch ran, and that none ran twice.
std::vector<int> blocks_that_ran(bool checks, double sample_seconds, unsigned blocks, unsigned rounds, LaunchReport& report) {
  DeviceOptions options;
  options.checks = checks;
  options.sample_seconds = sample_seconds;
  options.threads = 2;
  Rig rig(options);
  rig.load_text(kSlowBlocks);
  int* places = rig.upload(std::vector<int>(blocks, 0), "places");
  report = rig.run("slow_blocks", {blocks}, {1}, 0, places, rounds);
  EXPECT_TRUE(report.ok()) << findings_text(report);
  std::vector<int> ran;
  for (int i = 0; i < static_cast<int>(blocks); ++i) {
    EXPECT_LE(places[i], 1) << i;
    if (places[i] == 1) ran.push_back(i);
  }
  EXPECT_EQ(ran.size(), report.blocks_run);
  EXPECT_EQ(report.blocks, blocks);
  return ran;
}

TEST(VgpuExecutor, ASampleOfALaunchEndsEarlyAndComesFromAllOver) {
  constexpr unsigned kBlocks = 100000, kRounds = 3000;
  LaunchReport report;
  const std::vector<int> checked = blocks_that_ran(true, 0.4, kBlocks, kRounds, report);
  EXPECT_TRUE(report.sampled());
  EXPECT_LT(report.seconds, 20);
  ASSERT_GT(checked.size(), 8u);
  EXPECT_EQ(checked.front(), 0);
  EXPECT_EQ(checked.back(), static_cast<int>(kBlocks) - 1) << "edges are in the last block";
  EXPECT_GT(std::count_if(checked.begin(), checked.end(), [](int each) { return each > static_cast<int>(kBlocks) / 4; }), 2);
  // A kernel cannot tell by the blocks that run whether it is checked.
  const std::vector<int> counted = blocks_that_ran(false, 0.2, kBlocks, kRounds, report);
  EXPECT_TRUE(report.sampled());
  EXPECT_EQ(counted.back(), static_cast<int>(kBlocks) - 1);
  EXPECT_GT(std::count_if(counted.begin(), counted.end(), [](int each) { return each > static_cast<int>(kBlocks) / 4; }), 2);
}

TEST(VgpuExecutor, ASampleWithTimeEnoughIsTheWholeLaunch) {
  LaunchReport report;
  EXPECT_EQ(blocks_that_ran(true, 600, 500, 10, report).size(), 500u);
  EXPECT_FALSE(report.sampled());
}

TEST(VgpuExecutor, CallsDirectRecursiveAndByAddress) {
  Rig rig;
  rig.load_kernels();
  int* facts = rig.empty<int>(64, "facts");
  float* values = rig.upload(std::vector<float>(64, 5.0f), "values");
  const LaunchReport report = rig.run("calls", {1}, {64}, 0, facts, values);
  EXPECT_TRUE(report.ok()) << findings_text(report);
  const int expected[8] = {1, 1, 2, 6, 24, 120, 720, 5040};
  for (int i = 0; i < 64; ++i) {
    ASSERT_EQ(facts[i], expected[i % 8]) << i;
    ASSERT_EQ(values[i], i % 2 == 0 ? 10.0f : 15.0f) << i;
  }
}

TEST(VgpuExecutor, SwitchWithLoopInOneCase) {
  Rig rig;
  rig.load_kernels();
  std::vector<int> which(64);
  for (int i = 0; i < 64; ++i) which[static_cast<std::size_t>(i)] = (i * 5) % 8;
  which[0] = 3;
  int* dw = rig.upload(which, "which");
  int* out = rig.empty<int>(64, "out");
  const LaunchReport report = rig.run("choose", {1}, {64}, 0, dw, out);
  EXPECT_TRUE(report.ok()) << findings_text(report);
  for (int i = 0; i < 64; ++i) {
    int expected = 42;
    switch (which[static_cast<std::size_t>(i)]) {
      case 0:
        expected = i * 7;
        break;
      case 1:
        expected = i + 1000;
        break;
      case 2:
        expected = -i;
        break;
      case 3:
        expected = i * i;
        break;
      case 4:
        expected = i ^ 0x55;
        break;
      case 5:
        expected = 3 * i * (i - 1) / 2;
        break;
      default:
        break;
    }
    ASSERT_EQ(out[i], expected) << i;
  }
}

TEST(VgpuExecutor, PrintfGoesToTheSink) {
  Rig rig;
  rig.load_kernels();
  std::string text;
  rig.device.set_printf_sink([&](std::string_view part) { text += part; });
  const LaunchReport report = rig.run("talk", {1}, {32}, 0, 1, 2.5f);
  EXPECT_TRUE(report.ok()) << findings_text(report);
  EXPECT_EQ(text, "thread 0 of talk:  2.50 1099511627776%\nthread 1 of talk:  2.50 1099511627776%\n");
}

TEST(VgpuExecutor, HalfPrecisionPairs) {
  Rig rig;
  rig.load_kernels();
  auto* x = rig.upload(std::vector<std::uint32_t>(100, 0x40003c00u), "x");  // 1 and 2
  auto* y = rig.upload(std::vector<std::uint32_t>(100, 0x3c003c00u), "y");
  const LaunchReport report = rig.run("half_axpy", {1}, {128}, 0, 100, x, y);
  EXPECT_TRUE(report.ok()) << findings_text(report);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(y[i], 0x45004200u);  // 5 and 3
}

TEST(VgpuExecutor, AsynchronousCopies) {
  Rig rig;
  rig.load_kernels();
  const std::vector<float> x = ramp(512);
  float* dx = rig.upload(x, "x");
  auto* dy = rig.empty<float>(512, "y");
  const LaunchReport report = rig.run("async_copy", {1}, {128}, 0, dx, dy);
  EXPECT_TRUE(report.ok()) << findings_text(report);
  for (std::size_t i = 0; i < 512; ++i) ASSERT_EQ(dy[i], x[(127 - i / 4) * 4 + i % 4]);
  EXPECT_EQ(report.counters.async_copy_bytes, 2048u);
}

constexpr std::string_view kHead = ".version 8.0\n.target sm_80\n.address_size 64\n";

TEST(VgpuExecutor, ScopesLabelsAndSymbolsWrittenByHand) {
  Rig rig;
  rig.load_text(std::string(kHead) + R"(
.global .align 4 .u32 numbers[4] = {10, 20, 0x1E, 4*10};
.global .align 8 .u64 pointer = generic(numbers)+8;
.const .align 4 .f32 scale = 0f40000000;
.visible .entry hand(.param .u64 out) {
  .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<6>; .reg .f32 %f<3>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u64 %rd4, [pointer];
  ld.u32 %r2, [%rd4+4];
  { .reg .b32 %r1; mov.u32 %r1, 0; AGAIN: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 5; @%p1 bra AGAIN; add.u32 %r2, %r2, %r1; }
  { .reg .b32 t; mov.u32 t, 0; AGAIN: add.u32 t, t, 2; setp.lt.u32 %p1, t, 5; @%p1 bra AGAIN; add.u32 %r2, %r2, t; }
  ld.const.f32 %f1, [scale];
  cvt.rzi.u32.f32 %r3, %f1;
  mad.lo.u32 %r4, %r1, %r3, %r2;
  mov.b64 %rd5, {%r4, %r3};
  mov.b64 {%r5, %r6}, %rd5;
  add.u32 %r7, %r5, %r6;
  st.global.u32 [%rd3], %r7;
  ret;
})");
  auto* out = rig.empty<std::uint32_t>(32, "out");
  const LaunchReport report = rig.run("hand", {1}, {32}, 0, out);
  EXPECT_TRUE(report.ok()) << findings_text(report);
  for (std::uint32_t i = 0; i < 32; ++i) ASSERT_EQ(out[i], 40 + 5 + 6 + 2 * i + 2) << i;  // 53 + 2 i
}

TEST(VgpuExecutor, VotesMatchesAndReductionsOfAWarp) {
  Rig rig;
  rig.load_text(std::string(kHead) + R"(
.visible .entry warp(.param .u64 out) {
  .reg .pred %p<5>; .reg .b32 %r<20>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 3;
  setp.eq.u32 %p1, %r2, 0;
  vote.sync.ballot.b32 %r3, %p1, -1;
  match.any.sync.b32 %r4, %r2, -1;
  redux.sync.add.s32 %r5, %r1, -1;
  vote.sync.any.pred %p2, %p1, -1;
  selp.u32 %r6, 1, 0, %p2;
  activemask.b32 %r7;
  shfl.sync.bfly.b32 %r8|%p3, %r1, 1, 31, -1;
  shfl.sync.up.b32 %r9|%p4, %r1, 2, 0, -1;
  selp.u32 %r10, 1, 0, %p4;
  mul.wide.u32 %rd2, %r1, 32;
  add.s64 %rd3, %rd1, %rd2;
  st.global.v4.u32 [%rd3], {%r3, %r4, %r5, %r6};
  st.global.v4.u32 [%rd3+16], {%r7, %r8, %r9, %r10};
  ret;
})");
  auto* out = rig.empty<std::uint32_t>(256, "out");
  const LaunchReport report = rig.run("warp", {1}, {32}, 0, out);
  EXPECT_TRUE(report.ok()) << findings_text(report);
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::uint32_t* row = out + i * 8;
    ASSERT_EQ(row[0], 0x11111111u);
    ASSERT_EQ(row[1], 0x11111111u << (i & 3));
    ASSERT_EQ(row[2], 496u);
    ASSERT_EQ(row[3], 1u);
    ASSERT_EQ(row[4], 0xffffffffu);
    ASSERT_EQ(row[5], i ^ 1);
    ASSERT_EQ(row[6], i < 2 ? i : i - 2);
    ASSERT_EQ(row[7], i < 2 ? 0u : 1u);
  }
}

TEST(VgpuExecutor, LanesThatDivergeMeetAtAWarpBarrier) {
  Rig rig;
  rig.load_text(std::string(kHead) + R"(
.visible .entry meet(.param .u64 out) {
  .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 16;
  @%p1 bra LOW;
  bar.warp.sync -1;
  mov.u32 %r2, 7;
  bra BOTH;
LOW:
  mov.u32 %r2, 9;
  bar.warp.sync -1;
BOTH:
  shfl.sync.idx.b32 %r3, %r2, 31, 31, -1;
  add.u32 %r4, %r2, %r3;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r4;
  exit;
})");
  auto* out = rig.empty<std::uint32_t>(32, "out");
  const LaunchReport report = rig.run("meet", {1}, {32}, 0, out);
  EXPECT_TRUE(report.ok()) << findings_text(report);
  for (std::uint32_t i = 0; i < 32; ++i) ASSERT_EQ(out[i], i < 16 ? 16u : 14u);
}

// Triton adds two pointers to scratch memory behind a kernel's own parameters.
TEST(VgpuExecutor, TritonSoftmax) {
  Rig rig;
  rig.load_kernels("triton_softmax.ptx");
  const int n = 781;
  const std::vector<float> x = ramp(static_cast<std::size_t>(3 * n));
  float* dx = rig.upload(x, "x");
  auto* dy = rig.empty<float>(static_cast<std::size_t>(3 * n), "y");
  void* none = nullptr;
  const LaunchReport report = rig.run("softmax", {3}, {128}, 16, dy, dx, n, none, none);
  EXPECT_TRUE(report.ok()) << findings_text(report);
  for (int row = 0; row < 3; ++row) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += std::exp(static_cast<double>(x[static_cast<std::size_t>(row * n + i)]) - 6.0);
    for (int i = 0; i < n; ++i) {
      const double expected = std::exp(static_cast<double>(x[static_cast<std::size_t>(row * n + i)]) - 6.0) / sum;
      ASSERT_NEAR(dy[row * n + i], expected, 1e-6 * expected + 1e-12) << row << ", " << i;
    }
  }
}

void expect_triton_product(const std::string& file) {
  Rig rig;
  rig.load_kernels(file);
  const int m = 64, n = 128, k = 80;
  // Small integers, exact as halves: 0x3c00 is 1, 0x4000 is 2, 0xbc00 is -1, 0 is 0.
  const std::uint16_t halves[4] = {0x3c00, 0x4000, 0xbc00, 0};
  const int values[4] = {1, 2, -1, 0};
  std::vector<std::uint16_t> a(m * k), b(k * n);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = halves[i * 7 % 5 % 4];
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = halves[i * 3 % 11 % 4];
  auto* da = rig.upload(a, "a");
  auto* db = rig.upload(b, "b");
  auto* dc = rig.empty<std::uint16_t>(m * n, "c");
  void* none = nullptr;
  const LaunchReport report = rig.run("mm", {1, 2}, {128}, 8192, da, db, dc, m, n, k, none, none);
  EXPECT_TRUE(report.ok()) << findings_text(report);
  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < n; ++column) {
      int sum = 0;
      for (int i = 0; i < k; ++i) {
        sum += values[static_cast<std::size_t>(row * k + i) * 7 % 5 % 4] *
               values[static_cast<std::size_t>(i * n + column) * 3 % 11 % 4];
      }
      const std::uint16_t bits = dc[row * n + column];
      const int exponent = (bits >> 10) & 31;
      const float value = exponent == 0 ? 0.0f : std::ldexp(static_cast<float>((bits & 1023) | 1024), exponent - 25);
      ASSERT_EQ((bits & 0x8000) != 0 ? -value : value, static_cast<float>(sum)) << row << ", " << column;
    }
  }
  EXPECT_EQ(report.counters.flops_tensor, 2ull * m * n * 96);  // k in steps of 32
}

TEST(VgpuExecutor, TritonProductWithTensorCores) { expect_triton_product("triton_product.ptx"); }
TEST(VgpuExecutor, TritonProductWithWgmma) { expect_triton_product("triton_product_sm90.ptx"); }

TEST(VgpuExecutor, ResultsDoNotDependOnChecksOrThreads) {
  for (const bool checks : {true, false}) {
    for (const int threads : {1, 2}) {
      DeviceOptions options;
      options.checks = options.counters = checks;
      options.threads = threads;
      Rig rig(options);
      rig.load_kernels();
      const std::vector<float> a = ramp(1024);
      float* da = rig.upload(a, "a");
      auto* dc = rig.empty<float>(1024, "c");
      rig.run("tiled_product", {2, 2}, {16, 16}, 0, 32, da, da, dc);
      float sum = 0;
      for (int k = 0; k < 32; ++k)
        sum = std::fma(a[static_cast<std::size_t>(3 * 32 + k)], a[static_cast<std::size_t>(k * 32 + 5)], sum);
      EXPECT_EQ(dc[3 * 32 + 5], sum);
    }
  }
}

}  // namespace
}  // namespace kw::vgpu
