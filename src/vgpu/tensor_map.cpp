#include "vgpu/tensor_map.h"

#include <fmt/format.h>

namespace kw::vgpu {
namespace {

struct ElementType {
  std::uint8_t bytes = 0;
  bool is_float = false;
};

// By the number of CUtensorMapDataType; those after them are packed into less than a byte.
constexpr ElementType kTypes[] = {{1, false}, {2, false}, {4, false}, {4, false}, {8, false}, {8, false}, {2, true},
                                  {4, true},  {8, true},  {2, true},  {4, true},  {4, true},  {4, true}};
constexpr std::uint8_t kSwizzles[] = {0, 32, 64, 128};

}  // namespace

Result<TensorMap> encode_tensor_map(const TensorMapRequest& request) {
  const auto refused = [](std::string why) {
    return bad_input("cuTensorMapEncodeTiled: " + std::move(why), "see the CUDA driver's documentation of this call");
  };
  const auto missing = [](std::string_view what) {
    return bad_input(fmt::format("cuTensorMapEncodeTiled: {} is not supported by the virtual GPU", what),
                     "docs/ptx-support.md says which tensor maps it has");
  };
  if (request.type < 0 || request.type >= static_cast<int>(std::size(kTypes))) return missing("this data type");
  if (request.interleave != 0) return missing("an interleaved layout");
  if (request.swizzle < 0 || request.swizzle >= static_cast<int>(std::size(kSwizzles))) return missing("this swizzle");
  if (request.rank < 1 || request.rank > kTensorRank) return refused(fmt::format("the rank is {}, not 1 to 5", request.rank));
  if (request.base == 0 || request.base % 16 != 0) return refused("the tensor's address is no multiple of 16");
  const ElementType type = kTypes[request.type];
  TensorMap map;
  map.magic = kTensorMapMagic;
  map.base = request.base;
  map.rank = static_cast<std::uint8_t>(request.rank);
  map.element_bytes = type.bytes;
  map.swizzle = kSwizzles[request.swizzle];
  map.fill_with_nan = request.fill == 1 ? 1 : 0;
  if (map.fill_with_nan != 0 && !type.is_float) return refused("only floats can be filled with NaN");
  for (std::uint32_t i = 0; i < request.rank; ++i) {
    if (request.dims[i] < 1 || request.dims[i] > std::uint64_t{1} << 32)
      return refused(fmt::format("size {} of dimension {} is not 1 to 2^32", request.dims[i], i));
    if (request.box[i] < 1 || request.box[i] > 256)
      return refused(fmt::format("the box spans {} elements of dimension {}, not 1 to 256", request.box[i], i));
    if (request.steps[i] < 1 || request.steps[i] > 8)
      return refused(fmt::format("the element stride {} of dimension {} is not 1 to 8", request.steps[i], i));
    if (i > 0 && (request.strides[i - 1] % 16 != 0 || request.strides[i - 1] >= std::uint64_t{1} << 40))
      return refused(
          fmt::format("the stride of {} bytes of dimension {} is no multiple of 16 below 2^40", request.strides[i - 1], i));
    map.dims[i] = request.dims[i];
    map.box[i] = static_cast<std::uint16_t>(request.box[i]);
    map.steps[i] = static_cast<std::uint8_t>(request.steps[i]);
    if (i > 0) map.strides[i - 1] = request.strides[i - 1];
  }
  const std::uint32_t row = request.box[0] * type.bytes;
  if (row % 16 != 0) return refused(fmt::format("a row of the box has {} bytes, which is no multiple of 16", row));
  if (map.swizzle != 0 && row > map.swizzle)
    return refused(fmt::format("a row of the box has {} bytes, more than the swizzle's {}", row, map.swizzle));
  return map;
}

}  // namespace kw::vgpu
