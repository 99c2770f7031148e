#include "runner/virtual_gpu_host.h"

namespace kw::runner {
namespace {

// As cudart/control.h declares it; the library is loaded, not linked.
struct Traffic {
  std::size_t to_host = 0, to_device = 0, host_allocations = 0;
};

struct ControlFunctions {
  int (*host)(const char*, int, int, int, double, const char*, unsigned long long) = nullptr;
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

class VirtualGpuHost final : public GpuHost {
 public:
  VirtualGpuHost(const Spec& spec, const ControlFunctions& functions) : GpuHost(spec), functions_(functions) {}

  Status start() {
    const GpuSpec& gpu = spec_.gpu;
    if (const int code = functions_.host(gpu.gpu.c_str(), gpu.checks ? 1 : 0, gpu.counters ? 1 : 0, gpu.threads, gpu.launch_seconds,
                                         gpu.facts.c_str(), gpu.seed);
        code != 0)
      return internal_error("the virtual GPU '" + gpu.gpu + "' does not start: " + functions_.error_name(code));
    for (const Argument& argument : spec_.arguments) {
      void* memory = nullptr;
      if (argument.role != Role::scalar) {
        memory = functions_.allocate(argument.name.c_str(), std::max<std::uint64_t>(argument.bytes, 1),
                                     argument.role == Role::output ? 0 : 1);
        if (memory == nullptr) return internal_error("no memory on the virtual GPU for '" + argument.name + "'");
      }
      device_.push_back(memory);
    }
    return {};
  }

  void bring(const std::vector<void*>& on_host) override {
    for (std::size_t i = 0; i < device_.size(); ++i) {
      const Argument& argument = spec_.arguments[i];
      if (argument.role == Role::output)
        functions_.poison(device_[i], &argument.poison, argument.bytes);
      else if (argument.role != Role::scalar)
        functions_.put(device_[i], on_host[i], argument.bytes);
    }
  }

  void begin(bool in_call) override {
    functions_.sample(in_call ? spec_.gpu.sample_seconds : 0);
    functions_.begin();
  }

  Json end(const std::vector<void*>& on_host, bool with_outputs) override {
    Traffic traffic;
    const int error = functions_.end(&traffic);
    Json unwritten = Json::array();
    for (std::size_t i = 0; i < device_.size(); ++i) {
      const Argument& argument = spec_.arguments[i];
      if (!with_outputs || argument.role != Role::output) continue;
      unwritten.push_back(spec_.gpu.checks ? functions_.unwritten(device_[i]) : 0);
      functions_.get(on_host[i], device_[i], argument.bytes);
    }
    report_.resize(functions_.take_report(nullptr, 0));
    if (!report_.empty()) functions_.take_report(report_.data(), report_.size());
    return {{"error", error},
            {"error_name", error == 0 ? "" : functions_.error_name(error)},
            {"unwritten", unwritten},
            {"to_host", traffic.to_host},
            {"to_device", traffic.to_device},
            {"host_allocations", traffic.host_allocations},
            {"report", {reinterpret_cast<std::uint64_t>(report_.data()), report_.size()}}};
  }

 private:
  ControlFunctions functions_;
  std::vector<char> report_;
};

}  // namespace

Result<std::unique_ptr<GpuHost>> open_virtual_gpu_host(const Spec& spec) {
  KW_TRY(LoadedLibrary library, LoadedLibrary::open(spec.gpu.library));
  ControlFunctions functions;
  library.find("kw_vgpu_host", functions.host);
  library.find("kw_vgpu_sample", functions.sample);
  library.find("kw_vgpu_allocate", functions.allocate);
  library.find("kw_vgpu_put", functions.put);
  library.find("kw_vgpu_get", functions.get);
  library.find("kw_vgpu_poison", functions.poison);
  library.find("kw_vgpu_unwritten", functions.unwritten);
  library.find("kw_vgpu_begin", functions.begin);
  library.find("kw_vgpu_end", functions.end);
  library.find("kw_vgpu_take_report", functions.take_report);
  library.find("cudaGetErrorName", functions.error_name);
  KW_CHECK(library.complete());
  auto host = std::make_unique<VirtualGpuHost>(spec, functions);
  KW_CHECK(host->start());
  return std::unique_ptr<GpuHost>(std::move(host));
}

}  // namespace kw::runner
