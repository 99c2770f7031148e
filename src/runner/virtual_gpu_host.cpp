#include "runner/gpu_host.h"

#include <dlfcn.h>

namespace kw::runner {

namespace {

// As cudart/control.h declares it; the library is loaded, not linked.
struct Traffic {
  std::size_t to_host = 0, to_device = 0, host_allocations = 0;
};

}  // namespace

struct GpuHost::Functions {
  int (*host)(const char*, int, int, int, double, const char*) = nullptr;
  void (*sample)(double) = nullptr;
  void* (*allocate)(const char*, std::size_t, int) = nullptr;
  void (*put)(void*, const void*, std::size_t) = nullptr;
  void (*get)(void*, const void*, std::size_t) = nullptr;
  void (*poison)(void*, const void*, std::size_t) = nullptr;
  std::size_t (*unwritten)(const void*) = nullptr;
  void (*begin)() = nullptr;
  int (*end)(Traffic*) = nullptr;
  std::size_t (*take_report)(char*, std::size_t) = nullptr;
  const char* (*error_name)(int) = nullptr;
};

GpuHost::GpuHost(const Spec& spec, std::unique_ptr<Functions> functions) : spec_(spec), functions_(std::move(functions)) {}
GpuHost::~GpuHost() = default;

Result<std::unique_ptr<GpuHost>> GpuHost::open(const Spec& spec) {
  void* library = ::dlopen(spec.gpu.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return internal_error(std::string("the virtual GPU cannot be loaded: ") + ::dlerror(), "make build");
  auto functions = std::make_unique<Functions>();
  const char* missing = nullptr;
  const auto find = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    if (function == nullptr) missing = name;
  };
  find("kw_vgpu_host", functions->host);
  find("kw_vgpu_sample", functions->sample);
  find("kw_vgpu_allocate", functions->allocate);
  find("kw_vgpu_put", functions->put);
  find("kw_vgpu_get", functions->get);
  find("kw_vgpu_poison", functions->poison);
  find("kw_vgpu_unwritten", functions->unwritten);
  find("kw_vgpu_begin", functions->begin);
  find("kw_vgpu_end", functions->end);
  find("kw_vgpu_take_report", functions->take_report);
  find("cudaGetErrorName", functions->error_name);
  if (missing != nullptr) return internal_error(std::string(spec.gpu.library) + " has no " + missing, "make build");
  const GpuSpec& gpu = spec.gpu;
  if (const int code = functions->host(gpu.gpu.c_str(), gpu.checks ? 1 : 0, gpu.counters ? 1 : 0, gpu.threads, gpu.launch_seconds,
                                       gpu.facts.c_str());
      code != 0)
    return internal_error("the virtual GPU '" + gpu.gpu + "' does not start: " + functions->error_name(code));
  std::unique_ptr<GpuHost> host(new GpuHost(spec, std::move(functions)));
  for (const Argument& argument : spec.arguments) {
    void* memory = nullptr;
    if (argument.role != Role::scalar) {
      memory = host->functions_->allocate(argument.name.c_str(), std::max<std::uint64_t>(argument.bytes, 1),
                                          argument.role == Role::output ? 0 : 1);
      if (memory == nullptr) return internal_error("no memory on the virtual GPU for '" + argument.name + "'");
    }
    host->device_.push_back(memory);
  }
  return host;
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

void GpuHost::bring(const std::vector<void*>& on_host) {
  for (std::size_t i = 0; i < device_.size(); ++i) {
    const Argument& argument = spec_.arguments[i];
    if (argument.role == Role::output)
      functions_->poison(device_[i], &argument.poison, argument.bytes);
    else if (argument.role != Role::scalar)
      functions_->put(device_[i], on_host[i], argument.bytes);
  }
}

void GpuHost::begin(bool in_call) {
  functions_->sample(in_call ? spec_.gpu.sample_seconds : 0);
  functions_->begin();
}

Json GpuHost::end(const std::vector<void*>& on_host, bool with_outputs) {
  Traffic traffic;
  const int error = functions_->end(&traffic);
  Json unwritten = Json::array();
  for (std::size_t i = 0; i < device_.size(); ++i) {
    const Argument& argument = spec_.arguments[i];
    if (!with_outputs || argument.role != Role::output) continue;
    unwritten.push_back(spec_.gpu.checks ? functions_->unwritten(device_[i]) : 0);
    functions_->get(on_host[i], device_[i], argument.bytes);
  }
  report_.resize(functions_->take_report(nullptr, 0));
  if (!report_.empty()) functions_->take_report(report_.data(), report_.size());
  return {{"error", error},
          {"error_name", error == 0 ? "" : functions_->error_name(error)},
          {"unwritten", unwritten},
          {"to_host", traffic.to_host},
          {"to_device", traffic.to_device},
          {"host_allocations", traffic.host_allocations},
          {"report", {reinterpret_cast<std::uint64_t>(report_.data()), report_.size()}}};
}

}  // namespace kw::runner
