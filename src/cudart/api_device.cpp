// The device: its properties by the data sheet, limits, synchronisation.
#include <cstring>
#include <map>

#include "cudart/runtime.h"

namespace kw::cudart {
namespace {

constexpr int kRuntimeVersion = 13000;

DeviceProperties properties_of(const vgpu::GpuSheet& sheet) {
  DeviceProperties p{};
  std::strncpy(p.name, (sheet.name + " (virtual)").c_str(), sizeof p.name - 1);
  std::strncpy(p.uuid, sheet.id.c_str(), sizeof p.uuid - 1);
  p.total_global_memory = sheet.memory_bytes;
  p.shared_per_block = sheet.per_sm.shared_bytes_per_block;
  p.registers_per_block = sheet.per_sm.registers_per_block;
  p.warp_size = 32;
  p.memory_pitch = 0x7fffffff;
  p.max_threads_per_block = 1024;
  p.max_threads_dim[0] = p.max_threads_dim[1] = 1024;
  p.max_threads_dim[2] = 64;
  p.max_grid_size[0] = 0x7fffffff;
  p.max_grid_size[1] = p.max_grid_size[2] = 65535;
  p.total_constant_memory = 65536;
  p.major = sheet.cc_major;
  p.minor = sheet.cc_minor;
  p.texture_alignment = p.surface_alignment = 512;
  p.texture_pitch_alignment = 32;
  p.sm_count = sheet.sm_count;
  p.can_map_host_memory = p.concurrent_kernels = p.unified_addressing = 1;
  p.async_engine_count = 2;
  p.memory_bus_width = sheet.memory_bus_bits;
  p.l2_cache_size = static_cast<int>(sheet.l2_bytes);
  p.max_threads_per_sm = sheet.per_sm.threads;
  p.stream_priorities_supported = p.global_l1_cache_supported = p.local_l1_cache_supported = 1;
  p.shared_per_sm = sheet.per_sm.shared_bytes;
  p.registers_per_sm = sheet.per_sm.registers;
  p.managed_memory = p.concurrent_managed_access = p.compute_preemption_supported = p.can_use_host_pointer = 1;
  p.cooperative_launch = p.host_register_supported = p.memory_pools_supported = 1;
  p.shared_per_block_optin = sheet.per_sm.shared_bytes_per_block_optin;
  p.max_blocks_per_sm = sheet.per_sm.blocks;
  p.reserved_shared_per_block = sheet.per_sm.shared_reserved_per_block;
  p.cluster_launch = sheet.cc_major >= 9 ? 1 : 0;
  p.unified_function_pointers = 1;
  p.host_numa_id = -1;
  return p;
}

// By the values of cudaDeviceAttr; what is not here is 0, as for a device without the feature.
std::map<int, int> attributes_of(const vgpu::GpuSheet& sheet) {
  const DeviceProperties p = properties_of(sheet);
  const auto ratio = static_cast<int>(sheet.rates.fp32 / sheet.rates.fp64);
  const auto kilohertz = static_cast<int>(sheet.boost_clock_mhz * 1000);
  // Two transfers a clock, of the width of the bus.
  const auto memory_kilohertz = static_cast<int>(sheet.memory_gb_per_s * 1e6 / (sheet.memory_bus_bits / 8.0) / 2);
  return {{1, p.max_threads_per_block},
          {2, p.max_threads_dim[0]},
          {3, p.max_threads_dim[1]},
          {4, p.max_threads_dim[2]},
          {5, p.max_grid_size[0]},
          {6, p.max_grid_size[1]},
          {7, p.max_grid_size[2]},
          {8, static_cast<int>(p.shared_per_block)},
          {9, static_cast<int>(p.total_constant_memory)},
          {10, p.warp_size},
          {11, static_cast<int>(p.memory_pitch)},
          {12, p.registers_per_block},
          {13, kilohertz},
          {14, static_cast<int>(p.texture_alignment)},
          {15, 1},
          {16, p.sm_count},
          {19, 1},
          {30, static_cast<int>(p.surface_alignment)},
          {31, 1},
          {36, memory_kilohertz},
          {37, p.memory_bus_width},
          {38, p.l2_cache_size},
          {39, p.max_threads_per_sm},
          {40, p.async_engine_count},
          {41, 1},
          {51, static_cast<int>(p.texture_pitch_alignment)},
          {75, p.major},
          {76, p.minor},
          {78, 1},
          {79, 1},
          {80, 1},
          {81, static_cast<int>(p.shared_per_sm)},
          {82, p.registers_per_sm},
          {83, 1},
          {87, ratio},
          {89, 1},
          {90, 1},
          {91, 1},
          {95, 1},
          {97, static_cast<int>(p.shared_per_block_optin)},
          {99, 1},
          {106, p.max_blocks_per_sm},
          {111, static_cast<int>(p.reserved_shared_per_block)},
          {115, 1},
          {120, p.cluster_launch}};
}

constexpr int kLastAttribute = 148;

// cudaLimit: what a program may set; only the heap of malloc in kernels means something here.
enum LimitName : int { kLimitStack = 0, kLimitPrintf = 1, kLimitHeap = 2, kLimitLast = 6 };
std::map<int, std::size_t>& device_limits() {
  static std::map<int, std::size_t> limits = {
      {kLimitStack, 1024}, {kLimitPrintf, 1 << 20}, {kLimitHeap, 8 << 20}, {3, 2}, {4, 2048}, {5, 64}, {6, 0}};
  return limits;
}

}  // namespace

KW_CUDART int cudaGetDeviceCount(int* count) {
  return query_call([&](Runtime&) -> int { return count == nullptr ? kInvalidValue : (*count = 1, kSuccess); });
}
KW_CUDART int cudaGetDevice(int* device) {
  return query_call([&](Runtime&) -> int { return device == nullptr ? kInvalidValue : (*device = 0, kSuccess); });
}
KW_CUDART int cudaSetDevice(int device) {
  return query_call([&](Runtime&) -> int { return device == 0 ? kSuccess : kInvalidDevice; });
}
KW_CUDART int cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }
KW_CUDART int cudaChooseDevice(int* device, const DeviceProperties*) { return cudaGetDevice(device); }
KW_CUDART int cudaSetDeviceFlags(unsigned) { return kSuccess; }
KW_CUDART int cudaGetDeviceFlags(unsigned* flags) {
  if (flags != nullptr) *flags = 0;
  return kSuccess;
}

KW_CUDART int cudaGetDeviceProperties(DeviceProperties* properties, int device) {
  return query_call([&](Runtime& runtime) -> int {
    if (properties == nullptr) return kInvalidValue;
    if (device != 0) return kInvalidDevice;
    *properties = properties_of(runtime.sheet());
    return kSuccess;
  });
}
KW_CUDART int cudaDeviceGetAttribute(int* value, int attribute, int device) {
  return query_call([&](Runtime& runtime) -> int {
    if (value == nullptr || attribute < 1 || attribute > kLastAttribute) return kInvalidValue;
    if (device != 0) return kInvalidDevice;
    static const std::map<int, int> attributes = attributes_of(runtime.sheet());
    const auto found = attributes.find(attribute);
    *value = found == attributes.end() ? 0 : found->second;
    return kSuccess;
  });
}

KW_CUDART int cudaDeviceSynchronize() {
  return device_call([](Runtime&) -> int { return kSuccess; });
}
KW_CUDART int cudaDeviceReset() {
  return query_call([](Runtime& runtime) -> int {
    runtime.reset();
    return kSuccess;
  });
}
KW_CUDART int cudaDeviceSetLimit(int limit, std::size_t value) {
  return device_call([&](Runtime& runtime) -> int {
    if (limit < kLimitStack || limit > kLimitLast) return kUnsupportedLimit;
    device_limits()[limit] = value;
    if (limit == kLimitHeap) runtime.device().set_heap_limit(value);
    return kSuccess;
  });
}
KW_CUDART int cudaDeviceGetLimit(std::size_t* value, int limit) {
  if (value == nullptr) return last_error() = kInvalidValue;
  const auto found = device_limits().find(limit);
  if (found == device_limits().end()) return last_error() = kUnsupportedLimit;
  *value = found->second;
  return kSuccess;
}
KW_CUDART int cudaDeviceGetCacheConfig(int* config) {
  return config == nullptr ? last_error() = kInvalidValue : (*config = 0, kSuccess);
}
KW_CUDART int cudaDeviceSetCacheConfig(int) { return kSuccess; }
KW_CUDART int cudaDeviceGetSharedMemConfig(int* config) {
  return config == nullptr ? last_error() = kInvalidValue : (*config = 1, kSuccess);
}
KW_CUDART int cudaDeviceSetSharedMemConfig(int) { return kSuccess; }
KW_CUDART int cudaDeviceCanAccessPeer(int* can, int, int) {
  return can == nullptr ? last_error() = kInvalidValue : (*can = 0, kSuccess);
}
KW_CUDART int cudaDriverGetVersion(int* version) {
  return version == nullptr ? last_error() = kInvalidValue : (*version = kRuntimeVersion, kSuccess);
}
KW_CUDART int cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
KW_CUDART int cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (text == nullptr || length < 13) return last_error() = kInvalidValue;
  if (device != 0) return last_error() = kInvalidDevice;
  std::strncpy(text, "0000:00:00.0", static_cast<std::size_t>(length));
  return kSuccess;
}

}  // namespace kw::cudart
