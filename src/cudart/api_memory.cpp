// cudaMalloc and its kin, and what a pointer is.
#include <algorithm>

#include "cudart/runtime.h"

namespace kw::cudart {
namespace {

constexpr std::size_t kPitch = 512;

int allocate_on_device(void** pointer, std::size_t bytes, const char* call) {
  return device_call([&](Runtime& runtime) -> int { return runtime.allocate(pointer, bytes, call); });
}
int allocate_on_host(void** pointer, std::size_t bytes, MemoryType type, unsigned flags, const char* call) {
  return device_call([&](Runtime& runtime) -> int { return runtime.add_host_memory(pointer, bytes, type, flags, call); });
}

}  // namespace

KW_CUDART int cudaMalloc(void** pointer, std::size_t bytes) { return allocate_on_device(pointer, bytes, "cudaMalloc"); }
KW_CUDART int cudaMallocAsync(void** pointer, std::size_t bytes, void*) {
  return allocate_on_device(pointer, bytes, "cudaMallocAsync");
}
KW_CUDART int cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, void*, void*) {
  return allocate_on_device(pointer, bytes, "cudaMallocFromPoolAsync");
}
KW_CUDART int cudaMallocHost(void** pointer, std::size_t bytes) {
  return allocate_on_host(pointer, bytes, kHostMemory, 0, "cudaMallocHost");
}
KW_CUDART int cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return allocate_on_host(pointer, bytes, kHostMemory, flags, "cudaHostAlloc");
}
KW_CUDART int cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
  return allocate_on_host(pointer, bytes, kManagedMemory, flags, "cudaMallocManaged");
}
KW_CUDART int cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  if (pitch == nullptr) return last_error() = kInvalidValue;
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  return allocate_on_device(pointer, *pitch * height, "cudaMallocPitch");
}
KW_CUDART int cudaMalloc3D(PitchedPtr* pitched, Extent extent) {
  if (pitched == nullptr) return last_error() = kInvalidValue;
  const std::size_t pitch = (extent.width + kPitch - 1) / kPitch * kPitch;
  *pitched = {nullptr, pitch, extent.width, extent.height};
  return allocate_on_device(&pitched->ptr, pitch * extent.height * extent.depth, "cudaMalloc3D");
}

KW_CUDART int cudaFree(void* pointer) {
  return device_call([&](Runtime& runtime) -> int { return runtime.release(pointer); });
}
KW_CUDART int cudaFreeAsync(void* pointer, void*) { return cudaFree(pointer); }
KW_CUDART int cudaFreeHost(void* pointer) {
  return device_call(
      [&](Runtime& runtime) -> int { return pointer == nullptr ? kSuccess : runtime.remove_host_memory(pointer, true); });
}
KW_CUDART int cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  return device_call([&](Runtime& runtime) -> int { return runtime.register_host_memory(pointer, bytes, flags); });
}
KW_CUDART int cudaHostUnregister(void* pointer) {
  return device_call([&](Runtime& runtime) -> int { return runtime.remove_host_memory(pointer, false); });
}

// Host and device see the same addresses.
KW_CUDART int cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  return device_call([&](Runtime& runtime) -> int {
    if (device == nullptr || runtime.host_region(host) == nullptr) return kInvalidValue;
    *device = host;
    return kSuccess;
  });
}
KW_CUDART int cudaHostGetFlags(unsigned* flags, void* host) {
  return device_call([&](Runtime& runtime) -> int {
    const auto* region = runtime.host_region(host);
    if (flags == nullptr || region == nullptr) return kInvalidValue;
    *flags = region->second.flags;
    return kSuccess;
  });
}

KW_CUDART int cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer) {
  return device_call([&](Runtime& runtime) -> int {
    if (attributes == nullptr) return kInvalidValue;
    auto* address = const_cast<void*>(pointer);
    *attributes = {};
    attributes->type = runtime.type_of(pointer);
    attributes->device = attributes->type == kUnregistered ? -2 : 0;
    if (attributes->type != kUnregistered) attributes->device_pointer = address;
    if (attributes->type != kDeviceMemory) attributes->host_pointer = address;
    return kSuccess;
  });
}

KW_CUDART int cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return device_call([&](Runtime& runtime) -> int {
    if (free == nullptr || total == nullptr) return kInvalidValue;
    *total = runtime.device().options().limits.global_bytes;
    *free = *total - std::min(*total, runtime.device().bytes_in_use());
    return kSuccess;
  });
}

// Hints about managed memory: it is where both sides need it anyway.
KW_CUDART int cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, MemoryLocation, unsigned, void*) {
  return device_call([&](Runtime& runtime) -> int { return runtime.check_device_range(pointer, bytes, "cudaMemPrefetchAsync"); });
}
KW_CUDART int cudaMemAdvise(const void* pointer, std::size_t bytes, int, MemoryLocation) {
  return device_call([&](Runtime& runtime) -> int { return runtime.check_device_range(pointer, bytes, "cudaMemAdvise"); });
}
KW_CUDART int cudaStreamAttachMemAsync(void*, void*, std::size_t, unsigned) { return kSuccess; }

// There is one pool; it keeps nothing.
KW_CUDART int cudaDeviceGetDefaultMemPool(void** pool, int) {
  static char the_pool;
  if (pool == nullptr) return last_error() = kInvalidValue;
  *pool = &the_pool;
  return kSuccess;
}
KW_CUDART int cudaDeviceGetMemPool(void** pool, int device) { return cudaDeviceGetDefaultMemPool(pool, device); }
KW_CUDART int cudaDeviceSetMemPool(int, void*) { return kSuccess; }
KW_CUDART int cudaMemPoolSetAttribute(void*, int, void*) { return kSuccess; }
KW_CUDART int cudaMemPoolTrimTo(void*, std::size_t) { return kSuccess; }
KW_CUDART int cudaMemPoolCreate(void** pool, const void*) { return cudaDeviceGetDefaultMemPool(pool, 0); }
KW_CUDART int cudaMemPoolDestroy(void*) { return kSuccess; }

KW_CUDART int cudaMallocAsync_ptsz(void** pointer, std::size_t bytes, void* stream) {
  return cudaMallocAsync(pointer, bytes, stream);
}
KW_CUDART int cudaFreeAsync_ptsz(void* pointer, void* stream) { return cudaFreeAsync(pointer, stream); }
KW_CUDART int cudaMemPrefetchAsync_ptsz(const void* pointer, std::size_t bytes, MemoryLocation where, unsigned flags,
                                        void* stream) {
  return cudaMemPrefetchAsync(pointer, bytes, where, flags, stream);
}

}  // namespace kw::cudart
