// The state behind the CUDA runtime's functions: one virtual GPU, the device code that the program registered, its memory and its
// errors. All work is done when it is asked for, in the order of the calls: streams never overlap.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cudart/abi.h"
#include "cudart/control.h"
#include "cudart/fatbin.h"
#include "cudart/findings.h"
#include "cudart/settings.h"
#include "vgpu/device.h"
#include "vgpu/gpu_sheet.h"

namespace kw::cudart {

struct Variable {
  const void* host = nullptr;  // the program's name for it
  void** managed = nullptr;    // where the program looks for a __managed__ variable's address
  std::string name;            // as in PTX
};

// One container of device code: a translation unit's.
struct DeviceCode {
  const FatbinWrapper* wrapper = nullptr;
  bool loaded = false;
  const vgpu::Module* module = nullptr;  // null where loading failed
  std::string ptx;
  std::vector<Variable> variables;
};

struct Kernel {
  const void* host = nullptr;
  std::string name;
  DeviceCode* code = nullptr;
  const vgpu::Function* function = nullptr;
  vgpu::KernelFacts facts;
  int registers = 0;  // ptxas's, or a guess from what PTX declares
  bool registers_known = false;
  int max_dynamic_shared = -1;  // -1: not set by cudaFuncSetAttribute
  int carveout = -1;
  Dim3 cluster{0, 0, 0};  // by cudaFuncSetAttribute
  std::string tensor_kind;
};

struct HostRegion {  // memory of the host that kernels may use
  std::size_t bytes = 0;
  MemoryType type = kHostMemory;
  unsigned flags = 0;
  bool owned = false;
};

struct LaunchRequest {
  Dim3 grid, block, cluster;
  std::size_t dynamic_shared = 0;
  bool cooperative = false;
};

class Runtime {
 public:
  // Never destroyed: static objects of the program may use it to the very end.
  static Runtime& get();

  // kSuccess, or kInitializationError where the settings make no sense; says why once.
  Code start();
  vgpu::Device& device() { return *device_; }
  const vgpu::GpuSheet& sheet() const { return sheet_; }
  FindingsLog& log() { return log_; }
  std::recursive_mutex& mutex() { return mutex_; }
  // For a process that hosts the shim without an environment; before the first use of the GPU.
  Code configure(const Settings& settings);
  void know(std::map<std::string, CompiledFacts> facts) { settings_->facts = std::move(facts); }
  kw_vgpu_traffic traffic{};

  // What the program registers before main.
  DeviceCode* add_code(const FatbinWrapper* wrapper);
  void add_kernel(DeviceCode* code, const void* host, std::string name);
  void add_variable(DeviceCode* code, Variable variable);
  void remove_code(DeviceCode* code);
  Code load(DeviceCode& code);

  // By the host function's address or by the handle that __cudaGetKernel gave; loads its code. Null where there is none.
  Kernel* find_kernel(const void* host_or_handle);
  Kernel* prepared_kernel(const void* host_or_handle, Code& code);
  Code find_symbol(const void* host, std::byte*& address, std::size_t& bytes);
  Code launch(Kernel& kernel, const LaunchRequest& request, void** args);

  // Memory.
  Code allocate(void** pointer, std::size_t bytes, const char* call);
  Code release(void* pointer);
  Code add_host_memory(void** pointer, std::size_t bytes, MemoryType type, unsigned flags, const char* call);
  Code register_host_memory(void* pointer, std::size_t bytes, unsigned flags);
  Code remove_host_memory(void* pointer, bool owned);
  // The region that holds it, with its begin; null where there is none.
  const std::pair<const std::uintptr_t, HostRegion>* host_region(const void* pointer) const;
  MemoryType type_of(const void* pointer) const;
  // Whether a copy or fill of device memory stays inside its allocation; tells where it does not.
  Code check_device_range(const void* pointer, std::size_t bytes, const char* call);
  Code copy(void* target, const void* source, std::size_t bytes, int kind, const char* call);
  Code fill(void* target, int value, std::size_t bytes, const char* call);

  // A fault of a kernel is every later call's answer until cudaDeviceReset.
  Code sticky() const { return static_cast<Code>(sticky_.load()); }
  void fail_from_now(Code code) { sticky_ = code; }
  void reset();

  // Streams and events are only names here; the handles are checked.
  std::set<const void*> streams, events;
  bool is_stream(const void* stream) const;

 private:
  Runtime() = default;
  Code launch_limit(const Kernel& kernel, Code code, std::string message);
  Code check_launch(const Kernel& kernel, const LaunchRequest& request);
  std::optional<std::string> unfit_registers(const Kernel& kernel, std::uint64_t threads) const;

  std::recursive_mutex mutex_;
  bool started_ = false;
  Code start_code_ = kSuccess;
  std::optional<Settings> settings_;
  vgpu::GpuSheet sheet_;
  std::unique_ptr<vgpu::Device> device_;
  FindingsLog log_;
  std::vector<std::unique_ptr<DeviceCode>> codes_;
  std::map<const void*, std::unique_ptr<Kernel>> kernels_;
  std::set<const void*> kernel_handles_;
  std::map<std::uintptr_t, HostRegion> host_memory_;
  std::map<std::string, int> allocations_;  // how many of a call's so far, for their names
  int launches_ = 0;
  std::atomic<int> sticky_ = kSuccess;
};

// The host may touch device memory while one of these is there.
class OpenMemory {
 public:
  explicit OpenMemory(vgpu::Device& device) : device_(device) { device_.open_memory(); }
  ~OpenMemory() { device_.close_memory(); }
  OpenMemory(const OpenMemory&) = delete;
  OpenMemory& operator=(const OpenMemory&) = delete;

 private:
  vgpu::Device& device_;
};

// What cudaGetLastError of this thread tells.
int& last_error();

// The frame of a call that uses the GPU: starts it, answers a sticky error, keeps what the thread's last error is.
template <typename Body>
int device_call(Body&& body) noexcept {
  int code = kUnknown;
  try {
    Runtime& runtime = Runtime::get();
    const std::lock_guard lock(runtime.mutex());
    code = runtime.start();
    if (code == kSuccess) code = runtime.sticky();
    if (code == kSuccess) {
      const OpenMemory open(runtime.device());
      code = body(runtime);
    }
  } catch (const std::bad_alloc&) {
    code = kMemoryAllocation;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "========= virtual GPU: %s\n", e.what());
  }
  if (code != kSuccess && code != kNotReady) last_error() = code;
  return code;
}

// The same without the sticky error: for calls that only ask.
template <typename Body>
int query_call(Body&& body) noexcept {
  int code = kUnknown;
  try {
    Runtime& runtime = Runtime::get();
    const std::lock_guard lock(runtime.mutex());
    code = runtime.start();
    if (code == kSuccess) {
      const OpenMemory open(runtime.device());
      code = body(runtime);
    }
  } catch (const std::bad_alloc&) {
    code = kMemoryAllocation;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "========= virtual GPU: %s\n", e.what());
  }
  if (code != kSuccess) last_error() = code;
  return code;
}

// Functions of the runtime's C interface are all that the shared library shows.
#define KW_CUDART extern "C" __attribute__((visibility("default")))

}  // namespace kw::cudart
