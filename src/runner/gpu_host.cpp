#include "runner/gpu_host.h"

#include <dlfcn.h>

#include "runner/device_host.h"
#include "runner/virtual_gpu_host.h"

namespace kw::runner {

Result<LoadedLibrary> LoadedLibrary::open(const std::string& file) {
  void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return internal_error(std::string("the CUDA runtime cannot be loaded: ") + ::dlerror(), "make build");
  return LoadedLibrary(file, handle);
}

void* LoadedLibrary::look_up(const char* name) const { return ::dlsym(handle_, name); }

Status LoadedLibrary::complete() const {
  if (missing_ != nullptr) return internal_error(file_ + " has no " + missing_, "make build");
  return {};
}

Result<std::unique_ptr<GpuHost>> GpuHost::open(const Spec& spec) {
  return spec.gpu.real ? open_device_host(spec) : open_virtual_gpu_host(spec);
}

std::vector<void*> GpuHost::arguments(const std::vector<void*>& on_host) const {
  std::vector<void*> all = device_;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] == nullptr) all[i] = on_host[i];
  return all;
}

std::vector<std::uint64_t> GpuHost::addresses() const {
  std::vector<std::uint64_t> all;
  for (const void* each : device_) all.push_back(reinterpret_cast<std::uint64_t>(each));
  return all;
}

}  // namespace kw::runner
