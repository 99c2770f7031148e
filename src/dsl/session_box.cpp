#include "dsl/session_box.h"

#include <fmt/format.h>

#include "dsl/device_box.h"
#include "dsl/python_box.h"
#include "sandbox/library_files.h"

namespace kw {
namespace {

std::string sanitizer_library() {
  for (const char* version : {"8", "6", "5"})
    for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"})
      if (std::string path = fmt::format("{}/libasan.so.{}", folder, version); fs::exists(path)) return path;
  return "";
}

}  // namespace

Result<sandbox::Spec> runner_box(const runner::Spec& spec, const SessionOptions& options, std::vector<std::string>& libraries,
                                 const std::vector<std::string>& opencl_files) {
  const std::string program = (executable_folder() / "kw-runner").string();
  if (!fs::exists(program)) return internal_error(fmt::format("{} is missing", program), "build the project again: make build");
  sandbox::Spec box;
  box.argv = {program};
  box.environment = {{"LC_ALL", "C"}, {"MALLOC_ARENA_MAX", "1"}};  // threads share the heap, which then never changes protections
  if (libraries.empty()) {
    KW_TRY(libraries, sandbox::library_files(program));
    if (options.gpu) {
      KW_TRY(const auto more, sandbox::library_files(options.gpu->build.library));
      libraries.insert(libraries.end(), more.begin(), more.end());
      if (options.gpu->build.gpu.ends_with(".json")) libraries.push_back(fs::absolute(options.gpu->build.gpu).string());
    }
    if (options.device) {
      KW_TRY(const auto more, driver_files(options.device->gpu));
      libraries.insert(libraries.end(), more.begin(), more.end());
    }
  }
  for (const auto& library : libraries) box.read_only.push_back({library, ""});
  if (options.device) show_device(box, libraries);
  for (const auto& file : opencl_files) box.read_only.push_back({file, ""});
  if (const char* chosen = std::getenv("KERNELWRIGHT_OPENCL_DEVICE"); chosen != nullptr && !opencl_files.empty())
    box.environment["KERNELWRIGHT_OPENCL_DEVICE"] = chosen;
  box.read_only.push_back({spec.object, ""});
  if (options.debug) {
    const std::string asan = sanitizer_library();
    box.environment["LD_PRELOAD"] = asan;
    box.environment["ASAN_OPTIONS"] = "detect_leaks=0:handle_abort=1:allocator_may_return_null=0:exitcode=66";
    box.environment["UBSAN_OPTIONS"] = "print_stacktrace=1:halt_on_error=1:exitcode=66";
    box.read_only.push_back({"/usr", ""});
    for (const char* folder : {"/lib", "/lib64"})
      if (fs::exists(folder)) box.read_only.push_back({folder, ""});
  }
  box.brings_filter = spec.guarded;
  box.limits.processes = 1;
  return box;
}

runner::GpuSpec virtual_gpu_spec(const SessionGpu& gpu, int threads) {
  runner::GpuSpec spec;
  spec.library = gpu.build.library;
  spec.gpu = gpu.build.gpu.ends_with(".json") ? fs::absolute(gpu.build.gpu).string() : gpu.build.gpu;
  spec.checks = gpu.checks;
  spec.counters = gpu.counters;
  spec.threads = threads;
  spec.launch_seconds = gpu.launch_seconds;
  spec.sample_seconds = gpu.sample_seconds;
  spec.facts = gpu.build.facts;
  spec.seed = gpu.seed;
  return spec;
}

Result<sandbox::Spec> guest_box(const SessionOptions& options) {
  KW_TRY(sandbox::Spec box, python_box(*options.python, options.gpu ? options.gpu->build.library : "", PythonLife::serving));
  // What was never written holds no earlier output. Timed calls go without, as the baseline's do.
  if (options.passive_waits) box.environment["MALLOC_PERTURB_"] = "165";
  if (options.gpu) box.environment["KERNELWRIGHT_VGPU_SEED"] = std::to_string(options.gpu->seed);
  return box;
}

}  // namespace kw
