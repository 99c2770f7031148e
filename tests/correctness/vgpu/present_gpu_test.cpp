#include "vgpu/present_gpu.h"

#include <gtest/gtest.h>

#include "vgpu/toolkit.h"

namespace kw::vgpu {
namespace {

PresentGpu named(const std::string& name, int major, int minor) {
  PresentGpu gpu;
  gpu.name = name;
  gpu.cc_major = major;
  gpu.cc_minor = minor;
  return gpu;
}

TEST(PresentGpu, ARuntimeTellsWhatItSees) {
  const PresentGpus seen = gpus_seen_by(std::move(find_cudart_library()).value());
  ASSERT_EQ(seen.all.size(), 1U) << seen.why_none;
  const PresentGpu& gpu = seen.all.front();
  EXPECT_EQ(gpu.name, "NVIDIA A100-SXM4-80GB (virtual)") << "nobody may take its times for a real one's";
  EXPECT_EQ(gpu.architecture(), 80);
  EXPECT_EQ(gpu.sm_count, 108);
  EXPECT_NEAR(gpu.memory_gb_per_s, 2039, 1);
  EXPECT_GE(gpu.flush_bytes(), 2 * gpu.l2_bytes);
  EXPECT_GT(gpu.l2_bytes, 0U);
}

TEST(PresentGpu, WithoutOneThereIsAReason) {
  const PresentGpus none = gpus_seen_by("/nowhere/libcudart.so");
  EXPECT_TRUE(none.all.empty());
  EXPECT_NE(none.why_none.find("/nowhere/libcudart.so"), std::string::npos) << none.why_none;
}

TEST(PresentGpu, GoesByWholeWords) {
  EXPECT_TRUE(goes_by(named("NVIDIA A100-SXM4-40GB", 8, 0), "a100"));
  EXPECT_TRUE(goes_by(named("NVIDIA GeForce RTX 4090", 8, 9), "rtx4090"));
  EXPECT_TRUE(goes_by(named("NVIDIA GeForce RTX 4090", 8, 9), "NVIDIA GeForce RTX 4090"));
  EXPECT_TRUE(goes_by(named("Tesla T4", 7, 5), "T4"));
  EXPECT_FALSE(goes_by(named("NVIDIA L40S", 8, 9), "l4"));
  EXPECT_FALSE(goes_by(named("NVIDIA L40", 8, 9), "l4"));
  EXPECT_FALSE(goes_by(named("NVIDIA L4", 8, 9), "l40s"));
  EXPECT_FALSE(goes_by(named("NVIDIA L4", 8, 9), ""));
}

TEST(PresentGpu, IsJudgedByItsOwnSheetOrAnOlderArchitectures) {
  EXPECT_EQ(judging_sheet(named("NVIDIA L40S", 8, 9))->id, "l40s");
  EXPECT_EQ(judging_sheet(named("NVIDIA RTX A6000", 8, 6))->compute_capability(), "8.0");
  EXPECT_EQ(judging_sheet(named("NVIDIA GeForce RTX 4070", 8, 9))->compute_capability(), "8.9");
  EXPECT_EQ(judging_sheet(named("NVIDIA B300", 10, 3))->compute_capability(), "10.0");
  EXPECT_FALSE(judging_sheet(named("Tesla V100-SXM2-16GB", 7, 0)).ok()) << "nvcc does not compile for it any more";
}

TEST(PresentGpu, HasItsOwnCeilings) {
  PresentGpu gpu = named("NVIDIA A100-PCIE-40GB", 8, 0);
  gpu.sm_count = 54;
  gpu.clock_mhz = 1410;
  gpu.memory_gb_per_s = 1555;
  const GpuSheet sheet = *judging_sheet(gpu);
  const GpuSheet own = with_own_figures(sheet, gpu);
  EXPECT_EQ(own.memory_gb_per_s, 1555);
  EXPECT_NEAR(own.peak_tflops.at("fp32"), sheet.peak_tflops.at("fp32") / 2, 0.01) << "half the SMs";
  EXPECT_EQ(own.l2_bytes, sheet.l2_bytes) << "where the driver says nothing, the sheet does";
  EXPECT_EQ(own.name, gpu.name);
}

}  // namespace
}  // namespace kw::vgpu
