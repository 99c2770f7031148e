// A GPU in the runner's process, virtual or real: keeps the kernel's tensors in its memory and tells what it saw during a call.
// It never judges.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runner/buffers.h"

namespace kw::runner {

class GpuHost {
 public:
  // Loads the CUDA runtime and allocates every argument on the device: all before the system's doors close.
  static Result<std::unique_ptr<GpuHost>> open(const Spec& spec);
  virtual ~GpuHost() = default;

  // The kernel's arguments with device pointers; scalars stay where they are.
  [[nodiscard]] std::vector<void*> arguments(const std::vector<void*>& on_host) const;
  // Where tensors are on the device, by argument; 0 for scalars.
  [[nodiscard]] std::vector<std::uint64_t> addresses() const;

  // Inputs to the device, outputs poisoned there.
  virtual void bring(const std::vector<void*>& on_host) = 0;
  // Of a virtual GPU a call may be a sample of its blocks, where the spec says so; what kw_prepare makes is whole. On a real one
  // a call begins with caches that hold nothing of use.
  virtual void begin(bool in_call) = 0;
  // Waits for the work, takes the outputs back, and tells what happened: {"error", "error_name", "unwritten", "to_host",
  // "to_device", "host_allocations", "report": [address, bytes]}. The report stays until the next call. What a real GPU tells
  // beside it: {"nanoseconds", "late_nanoseconds", "held_bytes"}.
  virtual Json end(const std::vector<void*>& on_host, bool with_outputs) = 0;

  // Whether calls can be had in a row between one begin and one end, for a clock outside to compare with.
  [[nodiscard]] virtual bool keeps_time() const { return false; }

 protected:
  explicit GpuHost(const Spec& spec) : spec_(spec) {}
  Spec spec_;
  std::vector<void*> device_;  // by argument
};

// The functions of a library by their names; the first that is missing makes it unusable.
class LoadedLibrary {
 public:
  static Result<LoadedLibrary> open(const std::string& file);
  template <typename Function>
  void find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(look_up(name));
    if (function == nullptr && missing_ == nullptr) missing_ = name;
  }
  [[nodiscard]] void* look_up(const char* name) const;
  [[nodiscard]] Status complete() const;

 private:
  LoadedLibrary(std::string file, void* handle) : file_(std::move(file)), handle_(handle) {}
  std::string file_;
  void* handle_;
  const char* missing_ = nullptr;
};

}  // namespace kw::runner
