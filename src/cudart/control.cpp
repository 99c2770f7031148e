#include "cudart/control.h"

#include <algorithm>
#include <cstring>
#include <utility>

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

KW_CUDART int kw_vgpu_host(const char* gpu, int checks, int counters, int threads, double deadline_seconds, const char* facts,
                           unsigned long long seed) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex());
  const int code = kw_vgpu_configure(gpu, checks, counters, threads, deadline_seconds);
  if (code != kSuccess) return code;
  if (facts != nullptr && *facts != '\0') {
    auto read = facts_from_text(facts, "the facts of ptxas");
    if (!read) return kInvalidValue;
    runtime.know(std::move(*read));
  }
  runtime.device().mutable_options().seed = seed;
  runtime.device().start_threads();
  runtime.device().keep_from_host();
  runtime.device().close_memory();
  return kSuccess;
}

KW_CUDART void kw_vgpu_sample(double seconds) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex());
  runtime.device().mutable_options().sample_seconds = seconds;
}

KW_CUDART void* kw_vgpu_allocate(const char* name, std::size_t bytes, int read_only) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex());
  const OpenMemory open(runtime.device());
  auto memory = runtime.device().allocate(bytes, name, read_only != 0);
  return memory ? *memory : nullptr;
}

KW_CUDART void kw_vgpu_put(void* device, const void* host, std::size_t bytes) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex());
  const OpenMemory open(runtime.device());
  std::memcpy(device, host, bytes);
  runtime.device().note_host_write(device, bytes);
}

KW_CUDART void kw_vgpu_get(void* host, const void* device, std::size_t bytes) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex());
  const OpenMemory open(runtime.device());
  std::memcpy(host, device, bytes);
}

KW_CUDART void kw_vgpu_poison(void* device, const void* pattern, std::size_t bytes) {
  constexpr std::size_t kWord = 8;
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex());
  const OpenMemory open(runtime.device());
  auto* target = static_cast<std::byte*>(device);
  for (std::size_t at = 0; at < bytes; at += kWord) std::memcpy(target + at, pattern, std::min(kWord, bytes - at));
  runtime.device().forget_writes(device);
}

KW_CUDART std::size_t kw_vgpu_unwritten(const void* device) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex());
  return runtime.device().unwritten(device);
}

KW_CUDART void kw_vgpu_begin() {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex());
  last_error() = kSuccess;
  runtime.traffic = {};
}

KW_CUDART int kw_vgpu_end(kw_vgpu_traffic* traffic) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex());
  *traffic = runtime.traffic;
  return runtime.sticky() != kSuccess ? runtime.sticky() : std::exchange(last_error(), kSuccess);
}

KW_CUDART std::size_t kw_vgpu_take_report(char* buffer, std::size_t capacity) {
  static std::string waiting;  // what did not fit the last time
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex());
  waiting += runtime.log().take();
  const std::size_t bytes = waiting.size();
  if (bytes > capacity) return bytes;
  waiting.copy(buffer, bytes);
  waiting.clear();
  return bytes;
}

}  // namespace kw::cudart
