// Attributes of kernels, and occupancy by the data sheet.
#include "cudart/runtime.h"
#include "vgpu/occupancy.h"

namespace kw::cudart {
namespace {

template <typename Body>
int with_kernel(const void* function, Body&& body) {
  return device_call([&](Runtime& runtime) -> int {
    Code code = kSuccess;
    Kernel* kernel = runtime.prepared_kernel(function, code);
    return kernel == nullptr ? code : body(runtime, *kernel);
  });
}

int most_threads(const Kernel& kernel) { return kernel.facts.max_threads == 0 ? 1024 : static_cast<int>(kernel.facts.max_threads); }

int blocks_per_sm(const Runtime& runtime, const Kernel& kernel, int threads, std::size_t dynamic_shared) {
  if (threads > most_threads(kernel)) return 0;
  return vgpu::occupancy_of(runtime.sheet(), threads, kernel.registers, dynamic_shared + kernel.facts.static_shared).blocks_per_sm;
}

int set_function_attribute(Runtime& runtime, Kernel& kernel, int attribute, int value) {
  const vgpu::Limits& limits = runtime.device().options().limits;
  switch (attribute) {
    case kMaxDynamicShared:
      if (value < 0 || static_cast<std::uint64_t>(value) + kernel.facts.static_shared > limits.shared_per_block_optin) {
        runtime.log().error(bad_input("cudaFuncSetAttribute: " + std::to_string(value) + " bytes of dynamic shared memory and " +
                                          std::to_string(kernel.facts.static_shared) + " static ones for " +
                                          readable_kernel(kernel.name) + " are above the " +
                                          std::to_string(limits.shared_per_block_optin) + " of " + runtime.sheet().name,
                                      "use less shared memory, or a GPU with more"));
        return kInvalidValue;
      }
      kernel.max_dynamic_shared = value;
      return kSuccess;
    case kPreferredCarveout:
      if (value < -1 || value > 100) return kInvalidValue;
      kernel.carveout = value;
      return kSuccess;
    case kClusterWidth:
      kernel.cluster = {static_cast<std::uint32_t>(value), std::max(kernel.cluster.y, 1u), std::max(kernel.cluster.z, 1u)};
      return kSuccess;
    case kClusterHeight:
      kernel.cluster = {std::max(kernel.cluster.x, 1u), static_cast<std::uint32_t>(value), std::max(kernel.cluster.z, 1u)};
      return kSuccess;
    case kClusterDepth:
      kernel.cluster = {std::max(kernel.cluster.x, 1u), std::max(kernel.cluster.y, 1u), static_cast<std::uint32_t>(value)};
      return kSuccess;
    case kClusterMustBeSet:
    case kNonPortableCluster:
    case kClusterPolicy:
      return kSuccess;
    default:
      return kInvalidValue;
  }
}

}  // namespace

KW_CUDART int cudaFuncSetAttribute(const void* function, int attribute, int value) {
  return with_kernel(function,
                     [&](Runtime& runtime, Kernel& kernel) { return set_function_attribute(runtime, kernel, attribute, value); });
}
KW_CUDART int cudaFuncGetAttributes(FunctionAttributes* attributes, const void* function) {
  return with_kernel(function, [&](Runtime& runtime, Kernel& kernel) -> int {
    if (attributes == nullptr) return kInvalidValue;
    *attributes = {};
    attributes->shared_bytes = kernel.facts.static_shared;
    attributes->local_bytes = kernel.facts.local_bytes;
    attributes->max_threads_per_block = most_threads(kernel);
    attributes->registers = kernel.registers;
    attributes->ptx_version = attributes->binary_version = runtime.sheet().cc_major * 10 + runtime.sheet().cc_minor;
    attributes->max_dynamic_shared_bytes =
        kernel.max_dynamic_shared >= 0
            ? kernel.max_dynamic_shared
            : static_cast<int>(runtime.device().options().limits.shared_per_block - kernel.facts.static_shared);
    attributes->preferred_carveout = kernel.carveout;
    return kSuccess;
  });
}
KW_CUDART int cudaFuncSetCacheConfig(const void* function, int) {
  return with_kernel(function, [](Runtime&, Kernel&) { return kSuccess; });
}
KW_CUDART int cudaFuncSetSharedMemConfig(const void* function, int config) { return cudaFuncSetCacheConfig(function, config); }
KW_CUDART int cudaFuncGetName(const char** name, const void* function) {
  return with_kernel(function, [&](Runtime&, Kernel& kernel) {
    return name == nullptr ? kInvalidValue : (*name = kernel.name.c_str(), kSuccess);
  });
}
KW_CUDART int cudaFuncGetParamInfo(const void* function, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  return with_kernel(function, [&](Runtime&, Kernel& kernel) {
    if (offset == nullptr || index >= kernel.facts.param_offsets.size()) return kInvalidValue;
    *offset = kernel.facts.param_offsets[index];
    if (bytes != nullptr) *bytes = kernel.facts.param_sizes[index];
    return kSuccess;
  });
}
KW_CUDART int cudaKernelSetAttributeForDevice(const void* kernel, int attribute, int value, int) {
  return cudaFuncSetAttribute(kernel, attribute, value);
}

KW_CUDART int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int threads,
                                                                     std::size_t dynamic_shared, unsigned) {
  return with_kernel(function, [&](Runtime& runtime, Kernel& kernel) {
    if (blocks == nullptr || threads < 1) return kInvalidValue;
    *blocks = blocks_per_sm(runtime, kernel, threads, dynamic_shared);
    return kSuccess;
  });
}
KW_CUDART int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                            std::size_t dynamic_shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, dynamic_shared, 0);
}
KW_CUDART int cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* function, int blocks, int) {
  return with_kernel(function, [&](Runtime& runtime, Kernel& kernel) {
    if (bytes == nullptr || blocks < 1) return kInvalidValue;
    *bytes = vgpu::shared_for_blocks(runtime.sheet(), blocks, kernel.facts.static_shared);
    return kSuccess;
  });
}
KW_CUDART int cudaOccupancyMaxPotentialClusterSize(int* size, const void* function, const LaunchConfig*) {
  return with_kernel(function, [&](Runtime& runtime, Kernel&) {
    return size == nullptr ? kInvalidValue : (*size = runtime.sheet().cc_major >= 9 ? 8 : 1, kSuccess);
  });
}
KW_CUDART int cudaOccupancyMaxActiveClusters(int* clusters, const void* function, const LaunchConfig* config) {
  return with_kernel(function, [&](Runtime& runtime, Kernel& kernel) {
    if (clusters == nullptr || config == nullptr) return kInvalidValue;
    std::uint32_t cluster = std::max(kernel.cluster.x, 1u) * std::max(kernel.cluster.y, 1u) * std::max(kernel.cluster.z, 1u);
    for (unsigned i = 0; i < config->attribute_count; ++i)
      if (const LaunchAttribute& attribute = config->attributes[i]; attribute.id == kAttributeClusterDimension)
        cluster = attribute.value.cluster.x * attribute.value.cluster.y * attribute.value.cluster.z;
    if (cluster == 0 || runtime.sheet().cc_major < 9) return kInvalidClusterSize;
    const auto threads = static_cast<int>(config->block.x * config->block.y * config->block.z);
    *clusters =
        blocks_per_sm(runtime, kernel, threads, config->dynamic_shared) * runtime.sheet().sm_count / static_cast<int>(cluster);
    return kSuccess;
  });
}

}  // namespace kw::cudart
