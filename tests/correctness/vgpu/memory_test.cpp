// Address spaces, vectors, atomics, matrices in shared memory, mbarriers and clusters, by PTX written by hand.
#include <gtest/gtest.h>

#include "support/vgpu_rig.h"

namespace kw::vgpu {
namespace {

constexpr std::string_view kMemoryHead = R"(.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
)";

// out[tid] gets what the body leaves in %r1; %r0 is tid, %rd0 is out.
std::string kernel_of(std::string_view body) {
  return std::string(kMemoryHead) +
         ".visible .entry k(.param .u64 out, .param .u64 other) {\n"
         ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<33>; .reg .b64 %rd<33>; .reg .b128 %q<5>; .reg .f32 %f<9>;\n"
         "ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x;\n" +
         std::string(body) + "\nmul.wide.u32 %rd31, %r0, 4; add.u64 %rd32, %rd0, %rd31; st.global.u32 [%rd32], %r1;\nret;\n}\n";
}

std::vector<std::uint32_t> results_of(std::string_view body, std::uint32_t threads = 32,
                                      std::vector<std::uint32_t> other = std::vector<std::uint32_t>(64, 0),
                                      std::vector<std::uint32_t>* other_after = nullptr) {
  Rig rig;
  rig.load_text(kernel_of(body));
  auto* out = rig.empty<std::uint32_t>(threads, "out");
  auto* second = rig.upload(other, "other");
  const LaunchReport report = rig.run("k", {1}, {threads}, 1024, out, second);
  EXPECT_TRUE(report.ok()) << findings_text(report);
  if (other_after != nullptr) other_after->assign(second, second + other.size());
  return {out, out + threads};
}

TEST(VgpuMemory, GenericAddressesOfDifferentSpacesInOneWarp) {
  const auto results = results_of(R"(
    .local .align 4 .b8 stack[64];
    .shared .align 4 .b8 tile[256];
    ld.param.u64 %rd1, [other];
    shl.b32 %r2, %r0, 2; cvt.u64.u32 %rd2, %r2;
    mov.u64 %rd3, tile; cvta.shared.u64 %rd3, %rd3; add.u64 %rd3, %rd3, %rd2;
    mov.u64 %rd4, stack; cvta.local.u64 %rd4, %rd4;
    add.u64 %rd5, %rd1, %rd2;
    rem.u32 %r3, %r0, 3;
    setp.eq.u32 %p1, %r3, 0; setp.eq.u32 %p2, %r3, 1;
    selp.b64 %rd6, %rd3, %rd5, %p1; selp.b64 %rd6, %rd4, %rd6, %p2;
    add.u32 %r4, %r0, 100;
    st.u32 [%rd6], %r4;
    ld.u32 %r1, [%rd6];
    isspacep.shared %p3, %rd6; @%p3 add.u32 %r1, %r1, 1000;
    isspacep.local %p4, %rd6; @%p4 add.u32 %r1, %r1, 2000;)");
  for (std::uint32_t i = 0; i < 32; ++i) ASSERT_EQ(results[i], i + 100 + (i % 3 == 0 ? 1000 : i % 3 == 1 ? 2000 : 0)) << i;
}

TEST(VgpuMemory, NarrowTypesExtendByTheirSign) {
  const auto results = results_of(R"(
    ld.param.u64 %rd1, [other];
    ld.global.s8 %r2, [%rd1]; ld.global.u8 %r3, [%rd1]; ld.global.s16 %r4, [%rd1+2]; ld.global.u16 %r5, [%rd1+2];
    ld.global.s32 %rd2, [%rd1+4]; shr.s64 %rd3, %rd2, 32; cvt.u32.u64 %r6, %rd3;
    add.u32 %r1, %r2, %r3; add.u32 %r1, %r1, %r4; add.u32 %r1, %r1, %r5; add.u32 %r1, %r1, %r6;)",
                                  1, {0x8001007f, 0xfffffffe});
  EXPECT_EQ(results[0], static_cast<std::uint32_t>(127 + 127 - 32767 + 32769 - 1));
}

TEST(VgpuMemory, VectorsAndWideTypes) {
  std::vector<std::uint32_t> after;
  const auto results = results_of(R"(
    ld.param.u64 %rd1, [other];
    mul.wide.u32 %rd2, %r0, 16; add.u64 %rd3, %rd1, %rd2;
    add.u32 %r2, %r0, 1; add.u32 %r3, %r0, 2; add.u32 %r4, %r0, 3;
    st.global.v4.u32 [%rd3], {%r0, %r2, %r3, %r4};
    ld.global.v2.b64 {%rd4, %rd5}, [%rd3];
    ld.global.b128 %q1, [%rd3]; mov.b128 {%rd6, %rd7}, %q1;
    xor.b64 %rd8, %rd4, %rd6; xor.b64 %rd9, %rd5, %rd7; or.b64 %rd8, %rd8, %rd9;
    cvt.u32.u64 %r5, %rd8;
    mov.b64 {%r6, %r7}, %rd5; add.u32 %r1, %r6, %r7; add.u32 %r1, %r1, %r5;)",
                                  16, std::vector<std::uint32_t>(64, 0), &after);
  for (std::uint32_t i = 0; i < 16; ++i) {
    ASSERT_EQ(results[i], 2 * i + 5);
    ASSERT_EQ(after[4 * i + 3], i + 3);
  }
}

TEST(VgpuMemory, AtomicsOfManyTypes) {
  std::vector<std::uint32_t> after;
  const auto results = results_of(R"(
    ld.param.u64 %rd1, [other];
    atom.global.add.u32 %r1, [%rd1], 2;
    red.global.max.s32 [%rd1+4], %r0;
    cvt.rn.f32.u32 %f1, %r0; red.global.add.f32 [%rd1+8], %f1;
    red.global.or.b32 [%rd1+12], %r0;
    mov.u64 %rd2, 1; atom.global.add.u64 %rd3, [%rd1+16], %rd2;
    atom.global.inc.u32 %r2, [%rd1+24], 4;
    atom.global.cas.b32 %r3, [%rd1+28], 0, 77;
    mov.b32 %r4, 0x40003c00; red.global.add.noftz.f16x2 [%rd1+32], %r4;
    mov.b64 %rd4, 5; mov.b64 %rd5, 6; mov.b128 %q1, {%rd4, %rd5};
    atom.global.exch.b128 %q2, [%rd1+48], %q1;)",
                                  32, std::vector<std::uint32_t>(64, 0), &after);
  for (std::uint32_t i = 0; i < 32; ++i) ASSERT_EQ(results[i], 2 * i);
  EXPECT_EQ(after[0], 64u);
  EXPECT_EQ(after[1], 31u);
  EXPECT_EQ(after[2], 0x43f80000u);  // 496
  EXPECT_EQ(after[3], 31u);
  EXPECT_EQ(after[4], 32u);
  EXPECT_EQ(after[6], 2u);  // 32 steps through 0 to 4
  EXPECT_EQ(after[7], 77u);
  EXPECT_EQ(after[8], 0x54005000u);  // 64 and 32
  EXPECT_EQ(after[12], 5u);
  EXPECT_EQ(after[14], 6u);
}

TEST(VgpuMemory, LdmatrixPlainAndTransposed) {
  // Row r of a matrix of 8x8 halves holds 16 r + column.
  const char* fill = R"(
    mov.u32 %r2, dynamic;
    shr.u32 %r3, %r0, 2; and.b32 %r4, %r0, 3; shl.b32 %r5, %r3, 4; shl.b32 %r6, %r4, 1; add.u32 %r7, %r5, %r6;
    add.u32 %r8, %r7, 1; shl.b32 %r8, %r8, 16; or.b32 %r9, %r7, %r8;
    shl.b32 %r10, %r0, 2; add.u32 %r11, %r2, %r10; st.shared.b32 [%r11], %r9;
    bar.warp.sync -1;
    and.b32 %r12, %r0, 7; shl.b32 %r12, %r12, 4; add.u32 %r13, %r2, %r12;
)";
  const auto plain = results_of(std::string(fill) + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r13];");
  const auto turned = results_of(std::string(fill) + "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r1}, [%r13];");
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t row = lane / 4, column = 2 * (lane % 4);
    ASSERT_EQ(plain[lane], (16 * row + column) | (16 * row + column + 1) << 16);
    ASSERT_EQ(turned[lane], (16 * column + row) | (16 * (column + 1) + row) << 16);
  }
}

TEST(VgpuMemory, MbarrierPhases) {
  const auto results = results_of(R"(
    .shared .align 8 .b64 gate; .shared .align 4 .b32 word;
    setp.eq.u32 %p1, %r0, 0;
    @%p1 mbarrier.init.shared.b64 [gate], 64;
    bar.sync 0;
    @%p1 st.shared.u32 [word], 11;
    mbarrier.arrive.shared.b64 %rd1, [gate];
WAIT:
    mbarrier.try_wait.shared.b64 %p2, [gate], %rd1;
    @!%p2 bra WAIT;
    ld.shared.u32 %r1, [word];)",
                                  64);
  for (const std::uint32_t value : results) ASSERT_EQ(value, 11u);
}

TEST(VgpuMemory, BlocksOfAClusterSeeEachOthersSharedMemory) {
  Rig rig;
  rig.load_text(std::string(kMemoryHead) + R"(
.visible .entry k(.param .u64 out) {
  .shared .align 4 .b32 word;
  .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p1;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r2, 0;
  add.u32 %r3, %r1, 50;
  @%p1 st.shared.u32 [word], %r3;
  barrier.cluster.arrive; barrier.cluster.wait;
  xor.b32 %r4, %r1, 1; mov.u32 %r5, word;
  mapa.shared::cluster.u32 %r6, %r5, %r4;
  ld.shared::cluster.u32 %r7, [%r6];
  barrier.cluster.arrive; barrier.cluster.wait;
  mov.u32 %r8, %ctaid.x; mul.wide.u32 %rd2, %r8, 4; add.u64 %rd3, %rd1, %rd2;
  @%p1 st.global.u32 [%rd3], %r7;
  ret;
})");
  auto* out = rig.empty<std::uint32_t>(4, "out");
  rig.cluster = {2, 1, 1};
  const LaunchReport report = rig.run("k", {4}, {64}, 0, out);
  EXPECT_TRUE(report.ok()) << findings_text(report);
  for (std::uint32_t i = 0; i < 4; ++i) ASSERT_EQ(out[i], 50 + ((i % 2) ^ 1));
}

TEST(VgpuMemory, SymbolsAndHostWrites) {
  Rig rig;
  rig.load_text(
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .const .align 4 .u32 factor[2];\n.visible .global .align 4 .u32 "
      "seen;\n"
      R"(
.visible .entry k() { .reg .b32 %r<3>; ld.const.u32 %r1, [factor+4]; st.global.u32 [seen], %r1; ret; })");
  std::size_t bytes = 0;
  auto factor = rig.device.symbol(*rig.module, "factor", &bytes);
  auto seen = rig.device.symbol(*rig.module, "seen", nullptr);
  ASSERT_TRUE(factor.ok() && seen.ok());
  EXPECT_EQ(bytes, 8u);
  const std::uint32_t values[2] = {1, 42};
  std::memcpy(*factor, values, 8);
  const LaunchReport report = rig.run("k", {1}, {1}, 0);
  EXPECT_TRUE(report.ok()) << findings_text(report);
  EXPECT_EQ(*reinterpret_cast<std::uint32_t*>(*seen), 42u);
}

}  // namespace
}  // namespace kw::vgpu
