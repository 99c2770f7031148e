// The types of the CUDA runtime's C interface as programs compiled by nvcc 13 have them, so that the shim is built without CUDA.
// tests/cuda/abi.cpp compares each size and offset with the toolkit's own headers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vgpu/device.h"

namespace kw::cudart {

// Values of cudaError_t. An int in the interface: it may hold any value that a program made up.
enum Code : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kMemoryAllocation = 2,
  kInitializationError = 3,
  kInvalidConfiguration = 9,
  kInvalidPitchValue = 12,
  kInvalidSymbol = 13,
  kInvalidDevicePointer = 17,
  kInvalidMemcpyDirection = 21,
  kMissingConfiguration = 52,
  kInvalidDeviceFunction = 98,
  kInvalidDevice = 101,
  kInvalidKernelImage = 200,
  kNoKernelImage = 209,
  kUnsupportedLimit = 215,
  kInvalidPtx = 218,
  kInvalidResourceHandle = 400,
  kSymbolNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeout = 702,
  kPeerAccessNotEnabled = 705,
  kAssert = 710,
  kHostMemoryAlreadyRegistered = 712,
  kHostMemoryNotRegistered = 713,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kLaunchFailure = 719,
  kCooperativeLaunchTooLarge = 720,
  kNotSupported = 801,
  kInvalidClusterSize = 912,
  kUnknown = 999,
};

using Dim3 = vgpu::Dim3;  // cudaStream_t and cudaEvent_t are pointers to structs that only the runtime knows

enum CopyKind : int { kHostToHost = 0, kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3, kByAddress = 4 };
enum MemoryType : int { kUnregistered = 0, kHostMemory = 1, kDeviceMemory = 2, kManagedMemory = 3 };

struct PitchedPtr {
  void* ptr;
  std::size_t pitch, xsize, ysize;
};
struct Extent {
  std::size_t width, height, depth;
};
struct Position {
  std::size_t x, y, z;
};
struct Copy3D {
  void* source_array;
  Position source_position;
  PitchedPtr source;
  void* target_array;
  Position target_position;
  PitchedPtr target;
  Extent extent;
  int kind;
};

struct PointerAttributes {
  int type, device;
  void *device_pointer, *host_pointer;
  long reserved[8];
};

struct FunctionAttributes {
  std::size_t shared_bytes, constant_bytes, local_bytes;
  int max_threads_per_block, registers, ptx_version, binary_version, cache_mode, max_dynamic_shared_bytes, preferred_carveout;
  int cluster_must_be_set, cluster_width, cluster_height, cluster_depth, cluster_policy, non_portable_cluster;
  int reserved[16];
};

struct LaunchAttribute {
  int id;
  char padding[4];
  union {
    char bytes[64];
    int flag;
    struct {
      unsigned x, y, z;
    } cluster;
  } value;
};
enum LaunchAttributeId : int { kAttributeCooperative = 2, kAttributeClusterDimension = 4 };

struct LaunchConfig {
  Dim3 grid, block;
  std::size_t dynamic_shared;
  void* stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

enum FunctionAttribute : int {
  kMaxDynamicShared = 8,
  kPreferredCarveout = 9,
  kClusterMustBeSet = 10,
  kClusterWidth = 11,
  kClusterHeight = 12,
  kClusterDepth = 13,
  kNonPortableCluster = 14,
  kClusterPolicy = 15
};

struct MemoryLocation {
  int type, id;
};

// cudaDeviceProp of CUDA 13.
struct DeviceProperties {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luid_device_node_mask;
  std::size_t total_global_memory, shared_per_block;
  int registers_per_block, warp_size;
  std::size_t memory_pitch;
  int max_threads_per_block, max_threads_dim[3], max_grid_size[3];
  std::size_t total_constant_memory;
  int major, minor;
  std::size_t texture_alignment, texture_pitch_alignment;
  int sm_count, integrated, can_map_host_memory;
  int max_texture_1d, max_texture_1d_mipmap, max_texture_2d[2], max_texture_2d_mipmap[2], max_texture_2d_linear[3];
  int max_texture_2d_gather[2], max_texture_3d[3], max_texture_3d_alternate[3], max_texture_cubemap, max_texture_1d_layered[2];
  int max_texture_2d_layered[3], max_texture_cubemap_layered[2], max_surface_1d, max_surface_2d[2], max_surface_3d[3];
  int max_surface_1d_layered[2], max_surface_2d_layered[3], max_surface_cubemap, max_surface_cubemap_layered[2];
  std::size_t surface_alignment;
  int concurrent_kernels, ecc_enabled, pci_bus_id, pci_device_id, pci_domain_id, tcc_driver, async_engine_count, unified_addressing;
  int memory_bus_width, l2_cache_size, persisting_l2_cache_max_size, max_threads_per_sm, stream_priorities_supported;
  int global_l1_cache_supported, local_l1_cache_supported;
  std::size_t shared_per_sm;
  int registers_per_sm, managed_memory, is_multi_gpu_board, multi_gpu_board_group, host_native_atomic_supported;
  int pageable_memory_access, concurrent_managed_access, compute_preemption_supported, can_use_host_pointer, cooperative_launch;
  std::size_t shared_per_block_optin;
  int pageable_uses_host_page_tables, direct_managed_from_host, max_blocks_per_sm, access_policy_max_window;
  std::size_t reserved_shared_per_block;
  int host_register_supported, sparse_arrays_supported, host_register_read_only_supported, timeline_semaphore_supported;
  int memory_pools_supported, gpu_direct_rdma_supported;
  unsigned gpu_direct_rdma_flush_options;
  int gpu_direct_rdma_ordering;
  unsigned memory_pool_handle_types;
  int deferred_mapping_supported, ipc_event_supported, cluster_launch, unified_function_pointers, device_numa_config,
      device_numa_id;
  int mps_enabled, host_numa_id;
  unsigned gpu_pci_device, gpu_pci_subsystem;
  int host_numa_multinode_ipc_supported;
  int reserved[56];
};

// What nvcc's startup code hands to __cudaRegisterFatBinary.
struct FatbinWrapper {
  int magic, version;
  const void* data;
  void* file_or_fatbins;
};
inline constexpr int kFatbinWrapperMagic = 0x466243b1;

}  // namespace kw::cudart
