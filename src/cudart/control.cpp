#include "cudart/control.h"

#include <cstring>

#include "cudart/runtime.h"

namespace kw::cudart {

KW_CUDART int kw_vgpu_configure(const char* gpu, int checks, int counters, int threads, double deadline_seconds) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex());
  Settings settings;
  settings.gpu = gpu == nullptr || *gpu == '\0' ? std::string(vgpu::kDefaultGpu) : gpu;
  settings.checks = checks != 0;
  settings.counters = counters != 0;
  settings.threads = threads;
  settings.deadline_seconds = deadline_seconds;
  settings.quiet = true;
  runtime.log().collect(true);
  return runtime.configure(settings);
}

KW_CUDART std::size_t kw_vgpu_take_report(char* buffer, std::size_t capacity) {
  static std::string waiting;  // what did not fit the last time
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex());
  waiting += runtime.log().take();
  const std::size_t bytes = waiting.size();
  if (bytes > capacity) return bytes;
  std::memcpy(buffer, waiting.data(), bytes);
  waiting.clear();
  return bytes;
}

}  // namespace kw::cudart
