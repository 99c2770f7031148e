// What no GPU promises follows from the seed alone: not from whether a launch is checked, counted or sampled.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "support/vgpu_rig.h"
#include "vgpu/surroundings.h"

namespace kw::vgpu {
namespace {

// Each block stores what it finds in a register, in local and in shared memory that nothing has written, and its multiprocessor.
constexpr const char* kLooksAround = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry looks_around(.param .u64 places) {
  .local .align 4 .b8 own[64];
  .shared .align 4 .b8 shared_place[64];
  .reg .b32 %r<6>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [places];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd1, %r1, 16;
  add.u64 %rd1, %rd0, %rd1;
  ld.local.u32 %r2, [own+32];
  ld.shared.u32 %r3, [shared_place+32];
  mov.u32 %r4, %smid;
  st.global.u32 [%rd1], %r5;
  st.global.u32 [%rd1+4], %r2;
  st.global.u32 [%rd1+8], %r3;
  st.global.u32 [%rd1+12], %r4;
  ret;
}
)";

constexpr unsigned kBlocks = 64;

std::vector<std::uint32_t> seen_by(bool checks, bool counters, double sample_seconds, std::uint64_t seed, int launches = 1) {
  DeviceOptions options;
  options.checks = checks;
  options.counters = counters;
  options.sample_seconds = sample_seconds;
  options.seed = seed;
  options.threads = 2;
  Rig rig(options);
  rig.load_text(kLooksAround);
  auto* places = rig.upload(std::vector<std::uint32_t>(kBlocks * 4, 7), "places");
  for (int i = 0; i < launches; ++i) rig.run("looks_around", {kBlocks}, {1}, 0, places);
  return {places, places + kBlocks * 4};
}

TEST(VgpuSurroundings, AKernelCannotTellHowItIsRun) {
  const auto checked = seen_by(true, false, 0, 3);
  EXPECT_EQ(checked, seen_by(true, true, 600, 3));
  EXPECT_EQ(checked, seen_by(false, true, 0, 3));
  EXPECT_EQ(checked, seen_by(false, false, 600, 3));
}

TEST(VgpuSurroundings, UnwrittenMemoryHoldsNanLargeNumbersAndZeros) {
  const auto seen = seen_by(true, false, 0, 5);
  for (unsigned place = 0; place < 3; ++place) {
    int nan = 0, large = 0, very_negative = 0, zero = 0;
    for (unsigned block = 0; block < kBlocks; ++block) {
      const auto value = std::bit_cast<float>(seen[block * 4 + place]);
      nan += std::isnan(value) ? 1 : 0;
      large += value > 1e30F ? 1 : 0;
      very_negative += value < -1e30F ? 1 : 0;
      zero += value == 0 ? 1 : 0;
    }
    EXPECT_EQ(std::min({nan, large, very_negative, zero}), static_cast<int>(kBlocks) / 4) << place;
  }
  EXPECT_NE(seen_by(true, false, 0, 5, 1), seen_by(true, false, 0, 5, 2)) << "and others in the next launch";
}

TEST(VgpuSurroundings, TheMultiprocessorSaysNothingOfTheBlock) {
  const auto one = seen_by(true, false, 0, 1), other = seen_by(true, false, 0, 2);
  std::set<std::uint32_t> numbers;
  int as_blocks = 0, alike = 0;
  for (unsigned block = 0; block < kBlocks; ++block) {
    const std::uint32_t number = one[block * 4 + 3];
    EXPECT_LT(number, 108u);
    numbers.insert(number);
    as_blocks += number == block ? 1 : 0;
    alike += number == other[block * 4 + 3] ? 1 : 0;
  }
  EXPECT_GT(numbers.size(), 20u);
  EXPECT_LT(numbers.size(), kBlocks) << "some share one";
  EXPECT_LT(as_blocks, 8);
  EXPECT_LT(alike, 8);
}

TEST(VgpuSurroundings, MemoryOfTheDeviceThatNothingHasWrittenHoldsTheSame) {
  Rig rig;
  bool nan = false, zero = false;
  for (int i = 0; i < 8; ++i) {
    const float* place = rig.empty<float>(100, "scratch");
    nan = nan || std::isnan(place[50]);
    zero = zero || place[50] == 0;
  }
  EXPECT_TRUE(nan && zero);
}

TEST(VgpuSurroundings, TeamsBeginInAnOrderOfTheSeedAndEachOnce) {
  for (const std::uint64_t teams : {1u, 2u, 3u, 5u, 17u, 100u, 1000u, 1003u}) {
    for (std::uint64_t from = 0; from < teams; from += TeamOrder::kWindow) {
      TeamOrder order(from + 7, teams);
      std::vector<int> met(teams, 0);
      for (std::uint64_t number = 0; number < from; ++number) ++met[order.nearly_in_order(number)];
      order.spread_from(from);
      for (std::uint64_t number = from; number < teams; ++number) ++met[order.spread(number)];
      EXPECT_TRUE(std::all_of(met.begin(), met.end(), [](int times) { return times == 1; })) << teams << " from " << from;
      EXPECT_EQ(order.spread(from), teams - 1);
    }
  }
  std::set<std::uint64_t> places;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    TeamOrder order(seed, 100000);
    order.spread_from(1000);
    places.insert(order.spread(1000 + 200));
  }
  EXPECT_GT(places.size(), 15u) << "which blocks a sample takes depends on the seed";
}

// The later a block, the more it does.
constexpr const char* kLaterIsMore = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry later_is_more(.param .u64 places) {
  .reg .b32 %r<4>;
  .reg .pred %p;
  mov.u32 %r1, %ctaid.x;
loop:
  add.u32 %r1, %r1, -1;
  setp.gt.s32 %p, %r1, 0;
  @%p bra loop;
  ret;
}
)";

TEST(VgpuSurroundings, ASampleIsCountedForAllBlocksWhereverTheWorkIs) {
  static constexpr unsigned kMany = 20000;
  const auto instructions = [](double sample_seconds, bool& sampled) {
    DeviceOptions options;
    options.checks = false;
    options.sample_seconds = sample_seconds;
    options.threads = 1;
    Rig rig(options);
    rig.load_text(kLaterIsMore);
    const LaunchReport report = rig.run("later_is_more", {kMany}, {1}, 0, std::uint64_t{0});
    sampled = report.sampled();
    EXPECT_EQ(report.counters.blocks, kMany);
    return static_cast<double>(report.counters.warp_instructions);
  };
  bool sampled = false;
  const double of_sample = instructions(1.5, sampled);
  ASSERT_TRUE(sampled);
  constexpr double kExact = 3.0 * kMany * (kMany - 1.0) / 2;  // a loop of three
  EXPECT_GT(of_sample / kExact, 0.5) << "the first blocks do not stand for the others";
  EXPECT_LT(of_sample / kExact, 1.7);
}

}  // namespace
}  // namespace kw::vgpu
