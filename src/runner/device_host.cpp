#include "runner/device_host.h"

#include <array>
#include <chrono>

namespace kw::runner {
namespace {

using Clock = std::chrono::steady_clock;

// Values of the CUDA runtime's interface that never change.
constexpr int kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3;
constexpr int kClockRate = 13, kSmCount = 16, kMemoryClockRate = 36, kMemoryBusWidth = 37, kL2Bytes = 38, kMajor = 75, kMinor = 76;

struct CudaFunctions {
  int (*set_device)(int) = nullptr;
  int (*allocate)(void**, std::size_t) = nullptr;
  int (*free)(void*) = nullptr;
  int (*copy)(void*, const void*, std::size_t, int) = nullptr;
  int (*fill)(void*, int, std::size_t, void*) = nullptr;
  int (*create_event)(void**) = nullptr;
  int (*record)(void*, void*) = nullptr;
  int (*await_event)(void*) = nullptr;
  int (*elapsed)(float*, void*, void*) = nullptr;
  int (*await_device)() = nullptr;
  int (*memory)(std::size_t*, std::size_t*) = nullptr;
  int (*last_error)() = nullptr;
  const char* (*error_name)(int) = nullptr;
};

std::int64_t nanoseconds_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count();
}

// The kernel's stream is the default one, as PyTorch's is.
class DeviceHost final : public GpuHost {
 public:
  DeviceHost(const Spec& spec, const CudaFunctions& functions) : GpuHost(spec), cuda_(functions) {}

  Status start() {
    expect(cuda_.set_device(spec_.gpu.device));
    expect(cuda_.free(nullptr));  // makes the context
    for (void** event : {&start_, &end_}) expect(cuda_.create_event(event));
    if (spec_.gpu.flush_bytes > 0) expect(cuda_.allocate(&flushed_, spec_.gpu.flush_bytes));
    for (const Argument& argument : spec_.arguments) {
      void* memory = nullptr;
      if (argument.role != Role::scalar) expect(cuda_.allocate(&memory, std::max<std::uint64_t>(argument.bytes, 8)));
      device_.push_back(memory);
    }
    // The driver does some of its work when it is first asked to: while it still may.
    begin(true);
    end({}, false);
    if (error_ != 0) return internal_error(std::string("the GPU does not start: ") + cuda_.error_name(error_), "run 'nvidia-smi'");
    return {};
  }

  void bring(const std::vector<void*>& on_host) override {
    for (std::size_t i = 0; i < device_.size(); ++i) {
      const Argument& argument = spec_.arguments[i];
      if (argument.bytes == 0) continue;
      if (argument.role == Role::output)
        poison(device_[i], argument);
      else if (argument.role != Role::scalar)
        expect(cuda_.copy(device_[i], on_host[i], argument.bytes, kHostToDevice));
    }
    std::size_t total = 0;
    expect(cuda_.memory(&free_before_, &total));
  }

  // Nothing waits for the flush: what the host does for a launch goes on beside it, as it would in a program that is busy.
  void begin(bool in_call) override {
    if (in_call && flushed_ != nullptr) expect(cuda_.fill(flushed_, ++pattern_ & 0xff, spec_.gpu.flush_bytes, nullptr));
    expect(cuda_.record(start_, nullptr));
  }

  Json end(const std::vector<void*>& on_host, bool with_outputs) override {
    expect(cuda_.record(end_, nullptr));
    expect(cuda_.await_event(end_));
    const auto stream_done = Clock::now();
    expect(cuda_.await_device());
    const auto device_done = Clock::now();
    expect(cuda_.last_error());
    float milliseconds = 0;
    expect(cuda_.elapsed(&milliseconds, start_, end_));
    std::size_t free_after = 0, total = 0;
    expect(cuda_.memory(&free_after, &total));
    for (std::size_t i = 0; with_outputs && i < device_.size(); ++i) {
      const Argument& argument = spec_.arguments[i];
      if (argument.role == Role::output && argument.bytes > 0)
        expect(cuda_.copy(on_host[i], device_[i], argument.bytes, kDeviceToHost));
    }
    return {{"error", error_},
            {"error_name", error_ == 0 ? "" : cuda_.error_name(error_)},
            {"unwritten", Json::array()},
            {"to_host", 0},
            {"to_device", 0},
            {"host_allocations", 0},
            {"report", {0, 0}},
            {"nanoseconds", static_cast<std::int64_t>(static_cast<double>(milliseconds) * 1e6)},
            {"late_nanoseconds", nanoseconds_between(stream_done, device_done)},
            {"held_bytes", free_before_ > free_after ? free_before_ - free_after : 0}};
  }

  [[nodiscard]] bool keeps_time() const override { return true; }

 private:
  // The first error stays: the calls after it say nothing.
  void expect(int code) {
    if (error_ == 0) error_ = code;
  }

  // The word at the front, then what is there again behind it. A buffer is at least a word.
  void poison(void* memory, const Argument& argument) {
    auto* bytes = static_cast<char*>(memory);
    expect(cuda_.copy(bytes, &argument.poison, sizeof argument.poison, kHostToDevice));
    for (std::uint64_t done = sizeof argument.poison; done < argument.bytes;) {
      const std::uint64_t more = std::min(done, argument.bytes - done);
      expect(cuda_.copy(bytes + done, bytes, more, kDeviceToDevice));
      done += more;
    }
  }

  CudaFunctions cuda_;
  void* start_ = nullptr;
  void* end_ = nullptr;
  void* flushed_ = nullptr;
  int pattern_ = 0;
  int error_ = 0;
  std::size_t free_before_ = 0;
};

}  // namespace

Result<std::unique_ptr<GpuHost>> open_device_host(const Spec& spec) {
  KW_TRY(LoadedLibrary library, LoadedLibrary::open(spec.gpu.library));
  CudaFunctions functions;
  library.find("cudaSetDevice", functions.set_device);
  library.find("cudaMalloc", functions.allocate);
  library.find("cudaFree", functions.free);
  library.find("cudaMemcpy", functions.copy);
  library.find("cudaMemsetAsync", functions.fill);
  library.find("cudaEventCreate", functions.create_event);
  library.find("cudaEventRecord", functions.record);
  library.find("cudaEventSynchronize", functions.await_event);
  library.find("cudaEventElapsedTime", functions.elapsed);
  library.find("cudaDeviceSynchronize", functions.await_device);
  library.find("cudaMemGetInfo", functions.memory);
  library.find("cudaGetLastError", functions.last_error);
  library.find("cudaGetErrorName", functions.error_name);
  KW_CHECK(library.complete());
  auto host = std::make_unique<DeviceHost>(spec, functions);
  KW_CHECK(host->start());
  return std::unique_ptr<GpuHost>(std::move(host));
}

Result<Json> list_devices(const std::string& file) {
  KW_TRY(LoadedLibrary library, LoadedLibrary::open(file));
  int (*count_devices)(int*) = nullptr;
  int (*attribute)(int*, int, int) = nullptr;
  int (*properties)(void*, int) = nullptr;
  const char* (*error_text)(int) = nullptr;
  library.find("cudaGetDeviceCount", count_devices);
  library.find("cudaDeviceGetAttribute", attribute);
  library.find("cudaGetErrorString", error_text);
  // CUDA 12 has properties of two lengths under two names.
  library.find(library.look_up("cudaGetDeviceProperties_v2") != nullptr ? "cudaGetDeviceProperties_v2" : "cudaGetDeviceProperties",
               properties);
  KW_CHECK(library.complete());
  int count = 0;
  if (const int code = count_devices(&count); code != 0)
    return bad_input(std::string("the CUDA runtime says: ") + error_text(code));
  Json devices = Json::array();
  for (int index = 0; index < count; ++index) {
    std::array<char, 1 << 14> space{};  // the struct grows with CUDA's versions; it begins with the name
    if (properties(space.data(), index) != 0) continue;
    space[255] = '\0';
    const auto value = [&](int which) {
      int read = 0;
      return attribute(&read, which, index) == 0 ? read : 0;
    };
    devices.push_back({{"index", index},
                       {"name", std::string(space.data())},
                       {"cc_major", value(kMajor)},
                       {"cc_minor", value(kMinor)},
                       {"sm_count", value(kSmCount)},
                       {"clock_khz", value(kClockRate)},
                       {"memory_clock_khz", value(kMemoryClockRate)},
                       {"memory_bus_bits", value(kMemoryBusWidth)},
                       {"l2_bytes", value(kL2Bytes)}});
  }
  return devices;
}

}  // namespace kw::runner
