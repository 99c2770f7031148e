#include "search/gpu_place.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

vgpu::PresentGpus an_l4() {
  vgpu::PresentGpu gpu;
  gpu.name = "NVIDIA L4";
  gpu.cc_major = 8;
  gpu.cc_minor = 9;
  return {{gpu}, ""};
}

TEST(GpuPlace, WithoutAGpuEverythingIsEstimated) {
  const GpuPlace usual = *gpu_place_among({}, "", "cuda-c");
  EXPECT_FALSE(usual.device);
  EXPECT_EQ(usual.sheet, "") << "the usual data sheet";
  EXPECT_EQ(usual.note, "");
  EXPECT_EQ(gpu_place_among({}, "h100", "cuda-c")->sheet, "h100");
  EXPECT_FALSE(gpu_place_among({}, "h1000", "cuda-c").ok());
}

TEST(GpuPlace, TheGpuThatIsHereTimesWhatIsMeantForIt) {
  for (const char* machine : {"", "l4", "NVIDIA L4"}) {
    const GpuPlace place = *gpu_place_among(an_l4(), machine, "cuda-c");
    ASSERT_TRUE(place.device) << machine;
    EXPECT_EQ(place.sheet, "l4");
  }
  EXPECT_TRUE(gpu_place_among(an_l4(), "", "cute")->device);
}

TEST(GpuPlace, AnotherGpuIsEstimatedAndSaidSo) {
  const GpuPlace place = *gpu_place_among(an_l4(), "a100", "cuda-c");
  EXPECT_FALSE(place.device);
  EXPECT_EQ(place.sheet, "a100");
  EXPECT_NE(place.note.find("NVIDIA L4 is here"), std::string::npos) << place.note;
}

TEST(GpuPlace, LanguagesThatAreNotTimedAreEstimatedForIt) {
  const GpuPlace place = *gpu_place_among(an_l4(), "", "triton");
  EXPECT_FALSE(place.device);
  EXPECT_EQ(place.sheet, "l4");
  EXPECT_NE(place.note.find("triton"), std::string::npos) << place.note;
}

}  // namespace
}  // namespace kw
