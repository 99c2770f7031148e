#include "strategy/ptx_facts.h"

#include <gtest/gtest.h>

#include "strategy/code_lines.h"

namespace kw {
namespace {

// A kernel with this body; `bounds` is what stands between its head and its body.
std::string entry(const std::string& body, const std::string& bounds = "") {
  return ".visible .entry k(.param .u64 k_param_0)\n" + bounds + "{\n" + body + "ret;\n}\n";
}

std::vector<std::string> facts(const std::string& ptx) { return ptx_facts(ptx_code_lines(ptx)); }

const std::vector<std::string> kInWarps{"rows_stay_in_warps"};
const std::string kThread = "mov.u32 %r1, %tid.x;\n";
const std::string kWarpOfThread = "shr.u32 %r2, %r1, 5;\n";
const std::string kRowByWarp = "mad.lo.s32 %r3, %r2, 64, %r1;\nmul.wide.s32 %rd2, %r3, 4;\nadd.s64 %rd3, %rd1, %rd2;\n";
const std::string kRowByBlock =
    "mov.u32 %r4, %ctaid.x;\nmad.lo.s32 %r3, %r4, 64, %r1;\nmul.wide.s32 %rd2, %r3, 4;\nadd.s64 %rd3, %rd1, %rd2;\n";
const std::string kLoad = "ld.global.nc.f32 %f1, [%rd3+4];\n";
const std::string kShuffle = "shfl.sync.bfly.b32 %r5|%p1, %r6, 16, 31, -1;\n";

TEST(PtxFacts, AWarpWithARowOfItsOwn) {
  EXPECT_EQ(facts(entry(kThread + kWarpOfThread + kRowByWarp + kLoad + kShuffle + "@%p2 st.global.f32 [%rd3], %f2;\n")), kInWarps);
  // Threads in two dimensions: the second one names the warp.
  EXPECT_EQ(facts(entry("mov.u32 %r2, %tid.y;\n" + kThread + kRowByWarp + kLoad + kShuffle + "st.global.f32 [%rd3], %f2;\n")),
            kInWarps);
}

TEST(PtxFacts, ABlockWithARowJoinsItsWarps) {
  const std::string parts = kWarpOfThread + "shl.b32 %r7, %r2, 2;\nst.shared.f32 [%r7], %f1;\n";
  EXPECT_EQ(facts(entry(kThread + kRowByBlock + kLoad + kShuffle + parts + "bar.sync 0;\n")), std::vector<std::string>{});
  EXPECT_EQ(facts(entry(kThread + kRowByBlock + kLoad + kShuffle + parts + "barrier.sync.aligned 0;\n")),
            std::vector<std::string>{});
  EXPECT_EQ(facts(entry(kThread + kRowByBlock + kLoad + kShuffle + "red.global.add.f32 [%rd4], %f1;\n")),
            std::vector<std::string>{});
  // The barrier is in a function that is not inlined.
  EXPECT_EQ(facts(".func join()\n{\nbar.sync 0;\nret;\n}\n" + entry(kThread + kRowByBlock + kLoad + kShuffle + "call.uni join;\n")),
            std::vector<std::string>{});
}

TEST(PtxFacts, ABlockOfOneWarpMayHaveBarriers) {
  const std::string body = kThread + kRowByBlock + kLoad + kShuffle + "bar.sync 0;\n";
  EXPECT_EQ(facts(entry(body, ".maxntid 32, 1, 1\n")), kInWarps);
  EXPECT_EQ(facts(entry(body, ".reqntid 128\n")), std::vector<std::string>{});
  EXPECT_EQ(facts(entry(body, ".maxntid 32, 4, 1\n")), std::vector<std::string>{});
}

TEST(PtxFacts, PartsOfARowThatAnotherKernelJoinsStayInNoWarp) {
  const std::string part = kWarpOfThread + "mul.wide.s32 %rd5, %r2, 4;\nadd.s64 %rd6, %rd4, %rd5;\nst.global.f32 [%rd6], %f1;\n";
  EXPECT_EQ(facts(entry(kThread + kRowByBlock + kLoad + kShuffle + part)), std::vector<std::string>{});
}

TEST(PtxFacts, WithoutShufflesNothingIsSaid) {
  EXPECT_EQ(facts(entry(kThread + kWarpOfThread + kRowByWarp + kLoad)), std::vector<std::string>{});
  EXPECT_EQ(facts(""), std::vector<std::string>{});
  EXPECT_EQ(facts("}{[;@ , %\n@\n.entry \n[[[ %"), std::vector<std::string>{});
}

TEST(PtxFacts, WhatIsReadFromMemoryHangsOnNoThread) {
  // The row's number comes out of a table; the warp's number only leads to it.
  const std::string body =
      kThread + kRowByBlock + kLoad + kShuffle + kWarpOfThread + "ld.shared.u64 %rd6, [%r2];\nst.global.f32 [%rd6], %f1;\n";
  EXPECT_EQ(facts(entry(body)), kInWarps);
}

}  // namespace
}  // namespace kw
