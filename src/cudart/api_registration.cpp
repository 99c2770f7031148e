// What the code that nvcc adds to a program calls: registration before main, and launches with <<<...>>>.
#include "cudart/runtime.h"

// NOLINTBEGIN(bugprone-reserved-identifier): the names are the interface.

namespace kw::cudart {
namespace {

struct CallConfiguration {
  Dim3 grid, block;
  std::size_t shared = 0;
  void* stream = nullptr;
};

// Launches may be nested in the arguments of launches.
std::vector<CallConfiguration>& configurations() {
  thread_local std::vector<CallConfiguration> stack;
  return stack;
}

DeviceCode* code_of(void** handle) { return reinterpret_cast<DeviceCode*>(handle); }

int launch_by_handle(const void* kernel, Dim3 grid, Dim3 block, void** args, std::size_t shared, void* stream, bool cooperative) {
  return device_call([&](Runtime& runtime) -> int {
    if (!runtime.is_stream(stream)) return kInvalidResourceHandle;
    Code code = kSuccess;
    Kernel* found = runtime.prepared_kernel(kernel, code);
    if (found == nullptr) return code;
    LaunchRequest request{grid, block, {}, shared, cooperative};
    if (found->cluster.x != 0) request.cluster = found->cluster;
    return runtime.launch(*found, request, args);
  });
}

}  // namespace

KW_CUDART void** __cudaRegisterFatBinary(void* wrapper) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex());
  return reinterpret_cast<void**>(runtime.add_code(static_cast<const FatbinWrapper*>(wrapper)));
}

KW_CUDART void __cudaRegisterFatBinaryEnd(void**) {}

KW_CUDART void __cudaUnregisterFatBinary(void** handle) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex());
  runtime.remove_code(code_of(handle));
}

KW_CUDART void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, void*, void*, void*, void*,
                                      int*) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex());
  runtime.add_kernel(code_of(handle), host, name);
}

KW_CUDART void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, std::size_t, int, int) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex());
  runtime.add_variable(code_of(handle), {host, nullptr, name});
}

KW_CUDART void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int, std::size_t, int, int) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex());
  runtime.add_variable(code_of(handle), {host, host, name});
}

KW_CUDART char __cudaInitModule(void** handle) {
  device_call([&](Runtime& runtime) -> int { return runtime.load(*code_of(handle)); });
  return 1;
}

KW_CUDART unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t shared, void* stream) {
  configurations().push_back({grid, block, shared, stream});
  return 0;
}

KW_CUDART int __cudaPopCallConfiguration(Dim3* grid, Dim3* block, std::size_t* shared, void* stream) {
  if (configurations().empty()) return last_error() = kMissingConfiguration;
  const CallConfiguration top = configurations().back();
  configurations().pop_back();
  *grid = top.grid;
  *block = top.block;
  *shared = top.shared;
  *static_cast<void**>(stream) = top.stream;
  return kSuccess;
}

KW_CUDART int __cudaGetKernel(void** kernel, const void* host) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex());
  *kernel = runtime.find_kernel(host);
  return *kernel == nullptr ? kInvalidDeviceFunction : kSuccess;
}
KW_CUDART int cudaGetKernel(void** kernel, const void* host) { return __cudaGetKernel(kernel, host); }
KW_CUDART int cudaGetFuncBySymbol(void** function, const void* host) { return __cudaGetKernel(function, host); }

KW_CUDART int cudaLaunchKernel(const void* kernel, Dim3 grid, Dim3 block, void** args, std::size_t shared, void* stream) {
  return launch_by_handle(kernel, grid, block, args, shared, stream, false);
}
KW_CUDART int __cudaLaunchKernel(void* kernel, Dim3 grid, Dim3 block, void** args, std::size_t shared, void* stream) {
  return launch_by_handle(kernel, grid, block, args, shared, stream, false);
}
KW_CUDART int cudaLaunchCooperativeKernel(const void* kernel, Dim3 grid, Dim3 block, void** args, std::size_t shared,
                                          void* stream) {
  return launch_by_handle(kernel, grid, block, args, shared, stream, true);
}

KW_CUDART int cudaLaunchKernelExC(const LaunchConfig* config, const void* kernel, void** args) {
  return device_call([&](Runtime& runtime) -> int {
    if (config == nullptr) return kInvalidValue;
    if (!runtime.is_stream(config->stream)) return kInvalidResourceHandle;
    Code code = kSuccess;
    Kernel* found = runtime.prepared_kernel(kernel, code);
    if (found == nullptr) return code;
    LaunchRequest request{config->grid, config->block, {}, config->dynamic_shared, false};
    if (found->cluster.x != 0) request.cluster = found->cluster;
    for (unsigned i = 0; i < config->attribute_count; ++i) {
      const LaunchAttribute& attribute = config->attributes[i];
      if (attribute.id == kAttributeCooperative) request.cooperative = attribute.value.flag != 0;
      if (attribute.id == kAttributeClusterDimension)
        request.cluster = {attribute.value.cluster.x, attribute.value.cluster.y, attribute.value.cluster.z};
    }
    return runtime.launch(*found, request, args);
  });
}

// With --default-stream per-thread, nvcc asks for these names.
KW_CUDART int cudaLaunchKernel_ptsz(const void* kernel, Dim3 grid, Dim3 block, void** args, std::size_t shared, void* stream) {
  return cudaLaunchKernel(kernel, grid, block, args, shared, stream);
}
KW_CUDART int __cudaLaunchKernel_ptsz(void* kernel, Dim3 grid, Dim3 block, void** args, std::size_t shared, void* stream) {
  return cudaLaunchKernel(kernel, grid, block, args, shared, stream);
}
KW_CUDART int cudaLaunchCooperativeKernel_ptsz(const void* kernel, Dim3 grid, Dim3 block, void** args, std::size_t shared,
                                               void* stream) {
  return cudaLaunchCooperativeKernel(kernel, grid, block, args, shared, stream);
}
KW_CUDART int cudaLaunchKernelExC_ptsz(const LaunchConfig* config, const void* kernel, void** args) {
  return cudaLaunchKernelExC(config, kernel, args);
}

}  // namespace kw::cudart

// NOLINTEND(bugprone-reserved-identifier)
