// Memory of the device and of the host, and what may be copied where.
#include <cstdlib>
#include <cstring>

#include "cudart/runtime.h"

namespace kw::cudart {
namespace {

constexpr std::size_t kAlignment = 4096;  // of host memory: a page, as cudaMallocHost gives

}  // namespace

Code Runtime::allocate(void** pointer, std::size_t bytes, const char* call) {
  if (pointer == nullptr) return kInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return kSuccess;
  auto memory = device_->allocate(bytes, std::string(call) + " #" + std::to_string(++allocations_[call]));
  if (!memory) {
    log_.error(memory.error());
    return kMemoryAllocation;
  }
  *pointer = *memory;
  return kSuccess;
}

Code Runtime::release(void* pointer) {
  if (pointer == nullptr) return kSuccess;
  if (const auto* region = host_region(pointer)) {
    if (region->second.type != kManagedMemory || !region->second.owned) return kInvalidValue;
    return remove_host_memory(pointer, true);
  }
  const auto allocation = device_->find_allocation(pointer);
  if (allocation.bytes == 0 || allocation.begin != pointer) {
    vgpu::Finding finding;
    finding.kind = "invalid_free";
    finding.message = allocation.bytes == 0 ? "cudaFree of an address that no allocation has: freed twice, or never allocated"
                                            : "cudaFree of an address inside an allocation, not at its begin";
    finding.allocation = allocation.name;
    log_.finding(finding);
    return kInvalidValue;
  }
  return device_->release(pointer) ? kSuccess : kInvalidValue;
}

Code Runtime::add_host_memory(void** pointer, std::size_t bytes, MemoryType type, unsigned flags, const char* call) {
  if (pointer == nullptr) return kInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return type == kManagedMemory ? kInvalidValue : kSuccess;
  ++traffic.host_allocations;
  void* memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (memory == nullptr) return kMemoryAllocation;
  std::memset(memory, 0, bytes);
  if (!device_->adopt(memory, bytes, std::string(call) + " #" + std::to_string(++allocations_[call]))) {
    std::free(memory);  // NOLINT: aligned_alloc's
    return kMemoryAllocation;
  }
  host_memory_[reinterpret_cast<std::uintptr_t>(memory)] = {bytes, type, flags, true};
  *pointer = memory;
  return kSuccess;
}

Code Runtime::register_host_memory(void* pointer, std::size_t bytes, unsigned flags) {
  if (pointer == nullptr || bytes == 0) return kInvalidValue;
  if (host_region(pointer) != nullptr) return kHostMemoryAlreadyRegistered;
  ++traffic.host_allocations;
  if (!device_->adopt(pointer, bytes, "cudaHostRegister #" + std::to_string(++allocations_["cudaHostRegister"])))
    return kInvalidValue;
  host_memory_[reinterpret_cast<std::uintptr_t>(pointer)] = {bytes, kHostMemory, flags, false};
  return kSuccess;
}

Code Runtime::remove_host_memory(void* pointer, bool owned) {
  const auto found = host_memory_.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found == host_memory_.end() || found->second.owned != owned) return owned ? kInvalidValue : kHostMemoryNotRegistered;
  static_cast<void>(device_->release(pointer));
  host_memory_.erase(found);
  if (owned) std::free(pointer);  // NOLINT: aligned_alloc's
  return kSuccess;
}

const std::pair<const std::uintptr_t, HostRegion>* Runtime::host_region(const void* pointer) const {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  auto after = host_memory_.upper_bound(address);
  if (after == host_memory_.begin()) return nullptr;
  --after;
  return address - after->first < after->second.bytes ? &*after : nullptr;
}

MemoryType Runtime::type_of(const void* pointer) const {
  if (const auto* region = host_region(pointer)) return region->second.type;
  return device_->find_allocation(pointer).bytes > 0 ? kDeviceMemory : kUnregistered;
}

Code Runtime::check_device_range(const void* pointer, std::size_t bytes, const char* call) {
  auto inside = device_->check_range(pointer, bytes);
  if (inside) return kSuccess;
  vgpu::Finding finding;
  finding.kind = "out_of_bounds";
  finding.message = std::string(call) + " of " + std::to_string(bytes) + " bytes: " + inside.error().message;
  finding.allocation = device_->find_allocation(pointer).name;
  log_.finding(finding);
  return kInvalidValue;
}

Code Runtime::copy(void* target, const void* source, std::size_t bytes, int kind, const char* call) {
  if (bytes == 0) return kSuccess;
  if (target == nullptr || source == nullptr) return kInvalidValue;
  if (kind < kHostToHost || kind > kByAddress) return kInvalidMemcpyDirection;
  const MemoryType to = type_of(target), from = type_of(source);
  const bool to_device = kind == kHostToDevice || kind == kDeviceToDevice || (kind == kByAddress && to != kUnregistered);
  const bool from_device = kind == kDeviceToHost || kind == kDeviceToDevice || (kind == kByAddress && from != kUnregistered);
  // On a GPU the host's side of a copy cannot lie in device memory.
  if ((!to_device && to == kDeviceMemory) || (!from_device && from == kDeviceMemory)) {
    vgpu::Finding finding;
    finding.kind = "wrong_direction";
    finding.message = std::string(call) + ": the " + (!to_device && to == kDeviceMemory ? "target" : "source") +
                      " is device memory, and the direction says that it is the host's";
    log_.finding(finding);
    return kInvalidValue;
  }
  if (to_device)
    if (const Code code = check_device_range(target, bytes, call); code != kSuccess) return code;
  if (from_device)
    if (const Code code = check_device_range(source, bytes, call); code != kSuccess) return code;
  if (to_device && !from_device) traffic.to_device += bytes;
  if (to_device && from_device) log_.moved(2 * bytes);
  if (from_device && to != kDeviceMemory) traffic.to_host += bytes;
  std::memmove(target, source, bytes);
  if (to != kUnregistered) device_->note_host_write(target, bytes);
  return kSuccess;
}

Code Runtime::fill(void* target, int value, std::size_t bytes, const char* call) {
  if (bytes == 0) return kSuccess;
  if (target == nullptr) return kInvalidValue;
  if (const Code code = check_device_range(target, bytes, call); code != kSuccess) return code;
  std::memset(target, value, bytes);
  device_->note_host_write(target, bytes);
  log_.moved(bytes);
  return kSuccess;
}

}  // namespace kw::cudart
