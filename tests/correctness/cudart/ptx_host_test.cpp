#include "cudart/ptx_host.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "base/json.h"

namespace kw {
namespace {

// out[i] = x[i] + add; no mask: a thread for each element is asked for.
constexpr const char* kAddPtx = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 x, .param .u8 add, .param .u64 out) {
  .reg .b32 %r<8>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [x];
  ld.param.u8 %r6, [add];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %rd3, %r4, 4;
  add.u64 %rd4, %rd1, %rd3;
  add.u64 %rd5, %rd2, %rd3;
  ld.global.u32 %r5, [%rd4];
  add.u32 %r7, %r5, %r6;
  st.global.u32 [%rd5], %r7;
  ret;
})";

class PtxHost : public ::testing::Test {
 protected:
  void SetUp() override {
    device_ = kw_vgpu_open("a100", nullptr);
    ASSERT_NE(device_, nullptr) << kw_vgpu_text();
    kernel_ = kw_vgpu_load(device_, kAddPtx, "add", 24);
    ASSERT_NE(kernel_, nullptr) << kw_vgpu_text();
    std::iota(x_.begin(), x_.end(), 0u);
  }
  void TearDown() override {
    kw_vgpu_unload(kernel_);
    kw_vgpu_close(device_);
  }
  int launch(std::uint32_t blocks, const std::vector<kw_vgpu_range>& ranges) {
    const std::uint32_t* x = x_.data();
    std::uint32_t* out = out_.data();
    std::memcpy(parameters_, &x, 8);
    parameters_[8] = std::byte{5};
    std::memcpy(parameters_ + 16, &out, 8);
    const std::uint32_t shape[6] = {blocks, 1, 1, 32, 1, 1};
    return kw_vgpu_launch(kernel_, shape, 0, parameters_, sizeof parameters_, ranges.data(), ranges.size());
  }
  std::vector<kw_vgpu_range> both() { return {{x_.data(), x_.size() * 4, "x"}, {out_.data(), out_.size() * 4, "out"}}; }

  kw_vgpu_device* device_ = nullptr;
  kw_vgpu_kernel* kernel_ = nullptr;
  std::vector<std::uint32_t> x_ = std::vector<std::uint32_t>(64), out_ = std::vector<std::uint32_t>(64);
  std::byte parameters_[24] = {};
};

TEST_F(PtxHost, ParametersAreWherePtxHasThem) {
  std::uint32_t offsets[3] = {}, sizes[3] = {};
  ASSERT_EQ(kw_vgpu_parameters(kernel_, offsets, sizes, 3), 3u);
  EXPECT_EQ(std::vector<std::uint32_t>(offsets, offsets + 3), (std::vector<std::uint32_t>{0, 8, 16}));
  EXPECT_EQ(std::vector<std::uint32_t>(sizes, sizes + 3), (std::vector<std::uint32_t>{8, 1, 8}));
}

TEST_F(PtxHost, AKernelRunsOverTheHostsMemory) {
  ASSERT_EQ(launch(2, both()), 0) << kw_vgpu_text();
  for (std::uint32_t i = 0; i < 64; ++i) ASSERT_EQ(out_[i], i + 5);
}

TEST_F(PtxHost, AnAccessPastTheEndIsFoundWithTheNameOfTheMemory) {
  ASSERT_EQ(launch(3, both()), kw_vgpu_findings);
  const Json findings = Json::parse(kw_vgpu_text());
  EXPECT_EQ(findings.at(0).at("kind"), "out_of_bounds");
  EXPECT_EQ(findings.at(0).at("kernel"), "add");
  EXPECT_EQ(findings.at(0).at("block"), Json({2, 0, 0}));
}

TEST_F(PtxHost, MemoryIsForgottenAfterALaunchAndNeverCalledFreed) {
  ASSERT_EQ(launch(2, both()), 0) << kw_vgpu_text();
  ASSERT_EQ(launch(2, {{out_.data(), out_.size() * 4, "out"}}), kw_vgpu_findings);
  const std::string text = kw_vgpu_text();
  EXPECT_NE(text.find("out_of_bounds"), std::string::npos);
  EXPECT_EQ(text.find("freed"), std::string::npos) << text;
}

TEST_F(PtxHost, RangesThatOverlapCountAsOne) {
  std::vector<kw_vgpu_range> ranges = both();
  ranges.push_back({x_.data() + 32, 32 * 4, "second half"});
  ranges[0].bytes = 40 * 4;  // neither has all of it
  EXPECT_EQ(launch(2, ranges), 0) << kw_vgpu_text();
}

TEST_F(PtxHost, CountersAndAnEstimateOfTheLastLaunch) {
  EXPECT_EQ(kw_vgpu_counters(device_) == nullptr, kw_vgpu_estimate(device_) < 0);
  kw_vgpu_set(device_, 1, 1, 1, 0);
  ASSERT_EQ(launch(2, both()), 0) << kw_vgpu_text();
  const char* counters = kw_vgpu_counters(device_);
  ASSERT_NE(counters, nullptr);
  EXPECT_EQ(Json::parse(counters).at("global_load_bytes"), 256);
  const double seconds = kw_vgpu_estimate(device_);
  EXPECT_GT(seconds, 1e-6);
  EXPECT_LT(seconds, 1e-4);
}

TEST_F(PtxHost, TooFewParametersAreAnErrorInWords) {
  const std::uint32_t shape[6] = {1, 1, 1, 32, 1, 1};
  EXPECT_EQ(kw_vgpu_launch(kernel_, shape, 0, parameters_, 8, nullptr, 0), kw_vgpu_failed);
  EXPECT_NE(std::string(kw_vgpu_text()).find("24 bytes of parameters; 8 are given"), std::string::npos) << kw_vgpu_text();
}

TEST_F(PtxHost, WhatTheDataSheetSays) {
  const Json facts = Json::parse(kw_vgpu_describe(device_));
  EXPECT_EQ(facts.at("capability"), Json({8, 0}));
  EXPECT_EQ(facts.at("multiprocessors"), 108);
}

TEST_F(PtxHost, WrongPtxAndWrongNamesAreErrorsInWords) {
  EXPECT_EQ(kw_vgpu_load(device_, kAddPtx, "sub", 0), nullptr);
  EXPECT_NE(std::string(kw_vgpu_text()).find("no kernel 'sub'"), std::string::npos) << kw_vgpu_text();
  EXPECT_EQ(kw_vgpu_load(device_, "not PTX", "add", 0), nullptr);
  EXPECT_NE(std::string(kw_vgpu_text()), "");
  EXPECT_EQ(kw_vgpu_open("a1000", nullptr), nullptr);
  EXPECT_NE(std::string(kw_vgpu_text()).find("a1000"), std::string::npos) << kw_vgpu_text();
}

}  // namespace
}  // namespace kw
