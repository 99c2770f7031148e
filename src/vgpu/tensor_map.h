// A tensor in global memory as cp.async.bulk.tensor sees it: what cuTensorMapEncodeTiled puts into the 128 bytes of a CUtensorMap.
// How these are laid out is our own: NVIDIA's form is not published, and programs only pass it on.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace kw::vgpu {

inline constexpr int kTensorRank = 5;

struct TensorMap {
  std::uint64_t magic = 0;  // kTensorMapMagic: it was encoded here
  std::uint64_t base = 0;
  std::uint64_t dims[kTensorRank] = {};         // elements, the innermost first
  std::uint64_t strides[kTensorRank - 1] = {};  // bytes, from the second dimension on
  std::uint16_t box[kTensorRank] = {};          // elements of the tensor that a copy spans
  std::uint8_t steps[kTensorRank] = {};         // every how many of them are copied
  std::uint8_t rank = 0, element_bytes = 0;
  std::uint8_t swizzle = 0;  // 0: none; else bytes of a row: 32, 64, 128
  std::uint8_t fill_with_nan = 0;
  std::uint8_t unused[21] = {};
};
static_assert(sizeof(TensorMap) == 128);
inline constexpr std::uint64_t kTensorMapMagic = 0x70616d5f726f736eull;

// As the driver's interface has it: CUtensorMapDataType, -Interleave, -Swizzle and -FloatOOBfill as numbers.
struct TensorMapRequest {
  int type = 0;
  std::uint32_t rank = 0;
  std::uint64_t base = 0;
  const std::uint64_t* dims = nullptr;
  const std::uint64_t* strides = nullptr;
  const std::uint32_t* box = nullptr;
  const std::uint32_t* steps = nullptr;
  int interleave = 0, swizzle = 0, fill = 0;
};

// An error where the driver would refuse, with what it objects to, or where a form is not there.
Result<TensorMap> encode_tensor_map(const TensorMapRequest& request);

// Where the byte of a box goes that would be at `address` without a swizzle.
inline std::uint64_t swizzled(std::uint64_t address, unsigned span) {
  return address ^ ((address >> 3) & (span - 1u) & ~std::uint64_t{15} & (span == 0 ? 0u : ~0u));
}

}  // namespace kw::vgpu
