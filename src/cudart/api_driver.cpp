// The one call of the driver's interface that kernels' host code needs: tensor maps, and how programs find it.
#include <cstring>

#include "cudart/runtime.h"
#include "vgpu/tensor_map.h"

namespace kw::cudart {
namespace {

// Values of cudaDriverEntryPointQueryResult.
enum EntryPointStatus : int { kFound = 0, kNotFound = 1 };

}  // namespace

// A CUresult: its first values are those of cudaError_t.
KW_CUDART int cuTensorMapEncodeTiled(void* map, int type, std::uint32_t rank, void* address, const std::uint64_t* dims,
                                     const std::uint64_t* strides, const std::uint32_t* box, const std::uint32_t* steps,
                                     int interleave, int swizzle, int /*l2_promotion*/, int fill) {
  return query_call([&](Runtime& runtime) -> int {
    if (map == nullptr || dims == nullptr || box == nullptr || steps == nullptr || (rank > 1 && strides == nullptr))
      return kInvalidValue;
    const auto encoded = vgpu::encode_tensor_map(
        {type, rank, reinterpret_cast<std::uint64_t>(address), dims, strides, box, steps, interleave, swizzle, fill});
    if (!encoded) {
      runtime.log().error(encoded.error());
      return kInvalidValue;
    }
    std::memcpy(map, &*encoded, sizeof *encoded);
    return kSuccess;
  });
}

namespace {

int entry_point(const char* symbol, void** function, int* status) {
  return query_call([&](Runtime& runtime) -> int {
    if (symbol == nullptr || function == nullptr) return kInvalidValue;
    const bool known = std::strcmp(symbol, "cuTensorMapEncodeTiled") == 0;
    *function = known ? reinterpret_cast<void*>(&cuTensorMapEncodeTiled) : nullptr;
    if (status != nullptr) *status = known ? kFound : kNotFound;
    if (known) return kSuccess;
    runtime.log().error(bad_input("the driver's " + std::string(symbol) + " is not supported by the virtual GPU",
                                  "docs/virtual-gpu.md says what it has; run this part on a real GPU"));
    return kNotSupported;
  });
}

}  // namespace

KW_CUDART int cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long /*flags*/, int* status) {
  return entry_point(symbol, function, status);
}
KW_CUDART int cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned /*version*/,
                                               unsigned long long /*flags*/, int* status) {
  return entry_point(symbol, function, status);
}

}  // namespace kw::cudart
