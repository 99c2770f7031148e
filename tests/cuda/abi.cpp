// Compiled, never run: the types that the shim declares for itself are the toolkit's, field by field.
#include <cuda_runtime.h>

#include <cstddef>

#include "cudart/abi.h"

namespace kc = kw::cudart;

#define SAME_SIZE(theirs, ours) static_assert(sizeof(theirs) == sizeof(kc::ours), #ours)
#define SAME_PLACE(theirs, their_field, ours, our_field) \
  static_assert(offsetof(theirs, their_field) == offsetof(kc::ours, our_field), #ours "." #our_field)
#define SAME_VALUE(theirs, ours) static_assert(static_cast<int>(theirs) == static_cast<int>(kc::ours), #ours)

SAME_SIZE(dim3, Dim3);
SAME_SIZE(cudaDeviceProp, DeviceProperties);
SAME_PLACE(cudaDeviceProp, totalGlobalMem, DeviceProperties, total_global_memory);
SAME_PLACE(cudaDeviceProp, maxThreadsPerBlock, DeviceProperties, max_threads_per_block);
SAME_PLACE(cudaDeviceProp, major, DeviceProperties, major);
SAME_PLACE(cudaDeviceProp, multiProcessorCount, DeviceProperties, sm_count);
SAME_PLACE(cudaDeviceProp, surfaceAlignment, DeviceProperties, surface_alignment);
SAME_PLACE(cudaDeviceProp, l2CacheSize, DeviceProperties, l2_cache_size);
SAME_PLACE(cudaDeviceProp, sharedMemPerMultiprocessor, DeviceProperties, shared_per_sm);
SAME_PLACE(cudaDeviceProp, cooperativeLaunch, DeviceProperties, cooperative_launch);
SAME_PLACE(cudaDeviceProp, sharedMemPerBlockOptin, DeviceProperties, shared_per_block_optin);
SAME_PLACE(cudaDeviceProp, maxBlocksPerMultiProcessor, DeviceProperties, max_blocks_per_sm);
SAME_PLACE(cudaDeviceProp, reservedSharedMemPerBlock, DeviceProperties, reserved_shared_per_block);
SAME_PLACE(cudaDeviceProp, memoryPoolsSupported, DeviceProperties, memory_pools_supported);
SAME_PLACE(cudaDeviceProp, clusterLaunch, DeviceProperties, cluster_launch);
SAME_PLACE(cudaDeviceProp, hostNumaId, DeviceProperties, host_numa_id);
SAME_SIZE(cudaFuncAttributes, FunctionAttributes);
SAME_PLACE(cudaFuncAttributes, numRegs, FunctionAttributes, registers);
SAME_PLACE(cudaFuncAttributes, maxDynamicSharedSizeBytes, FunctionAttributes, max_dynamic_shared_bytes);
SAME_SIZE(cudaPointerAttributes, PointerAttributes);
SAME_PLACE(cudaPointerAttributes, hostPointer, PointerAttributes, host_pointer);
SAME_SIZE(cudaLaunchConfig_t, LaunchConfig);
SAME_PLACE(cudaLaunchConfig_t, attrs, LaunchConfig, attributes);
SAME_PLACE(cudaLaunchConfig_t, numAttrs, LaunchConfig, attribute_count);
SAME_SIZE(cudaLaunchAttribute, LaunchAttribute);
SAME_PLACE(cudaLaunchAttribute, val, LaunchAttribute, value);
SAME_SIZE(cudaMemcpy3DParms, Copy3D);
SAME_PLACE(cudaMemcpy3DParms, dstPtr, Copy3D, target);
SAME_PLACE(cudaMemcpy3DParms, kind, Copy3D, kind);
SAME_SIZE(cudaPitchedPtr, PitchedPtr);
SAME_SIZE(cudaExtent, Extent);
SAME_SIZE(cudaMemLocation, MemoryLocation);
SAME_VALUE(cudaLaunchAttributeCooperative, kAttributeCooperative);
SAME_VALUE(cudaLaunchAttributeClusterDimension, kAttributeClusterDimension);
SAME_VALUE(cudaFuncAttributeMaxDynamicSharedMemorySize, kMaxDynamicShared);
SAME_VALUE(cudaMemcpyDeviceToHost, kDeviceToHost);
SAME_VALUE(cudaMemoryTypeManaged, kManagedMemory);
SAME_VALUE(cudaErrorInvalidConfiguration, kInvalidConfiguration);
SAME_VALUE(cudaErrorInvalidPtx, kInvalidPtx);
SAME_VALUE(cudaErrorIllegalAddress, kIllegalAddress);
SAME_VALUE(cudaErrorLaunchOutOfResources, kLaunchOutOfResources);
SAME_VALUE(cudaErrorAssert, kAssert);
SAME_VALUE(cudaErrorMisalignedAddress, kMisalignedAddress);
SAME_VALUE(cudaErrorCooperativeLaunchTooLarge, kCooperativeLaunchTooLarge);
SAME_VALUE(cudaErrorNotSupported, kNotSupported);
SAME_VALUE(cudaErrorInvalidClusterSize, kInvalidClusterSize);
