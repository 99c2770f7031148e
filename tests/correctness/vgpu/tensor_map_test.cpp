#include "vgpu/tensor_map.h"

#include <gtest/gtest.h>

#include <functional>

namespace kw::vgpu {
namespace {

struct Given {
  std::uint64_t dims[2] = {64, 8}, strides[1] = {256};
  std::uint32_t box[2] = {32, 8}, steps[2] = {1, 1};
  TensorMapRequest request{7, 2, 0x1000, dims, strides, box, steps, 0, 3, 0};  // floats, swizzle of 128 bytes
};

TEST(VgpuTensorMap, SwizzlesMoveSixteenBytesWithinTheirRow) {
  EXPECT_EQ(swizzled(0x084, 0), 0x084u);
  EXPECT_EQ(swizzled(0x084, 32), 0x094u);
  EXPECT_EQ(swizzled(0x184, 64), 0x1b4u);
  EXPECT_EQ(swizzled(0x384, 128), 0x3f4u);
  EXPECT_EQ(swizzled(0x400, 128), 0x400u);
}

TEST(VgpuTensorMap, RefusesWhatTheDriverRefuses) {
  EXPECT_TRUE(encode_tensor_map(Given().request).ok());
  const std::vector<std::function<void(Given&)>> faults{[](Given& g) { g.request.rank = 0; },
                                                        [](Given& g) { g.request.rank = 6; },
                                                        [](Given& g) { g.request.base = 0x1008; },
                                                        [](Given& g) { g.strides[0] = 260; },
                                                        [](Given& g) { g.box[0] = 3; },
                                                        [](Given& g) { g.box[1] = 257; },
                                                        [](Given& g) { g.box[0] = 64; },
                                                        [](Given& g) { g.dims[1] = 0; },
                                                        [](Given& g) { g.steps[0] = 9; },
                                                        [](Given& g) { g.request.type = 99; },
                                                        [](Given& g) { g.request.interleave = 1; },
                                                        [](Given& g) { g.request.swizzle = 4; },
                                                        [](Given& g) { g.request.type = 2, g.request.fill = 1; }};
  for (std::size_t i = 0; i < faults.size(); ++i) {
    Given given;
    faults[i](given);
    EXPECT_FALSE(encode_tensor_map(given.request).ok()) << i;
  }
}

}  // namespace
}  // namespace kw::vgpu
