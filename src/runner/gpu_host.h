// A virtual GPU in the runner's process: loads the CUDA runtime's stand-in, keeps the kernel's tensors in its memory, and tells
// what it saw during a call. It never judges.
#pragma once

#include <memory>
#include <vector>

#include "runner/buffers.h"

namespace kw::runner {

class GpuHost {
 public:
  // Loads the library, starts its threads and allocates every argument on the device: all before the system's doors close.
  static Result<std::unique_ptr<GpuHost>> open(const Spec& spec);

  // The kernel's arguments with device pointers; scalars stay where they are.
  [[nodiscard]] std::vector<void*> arguments(const std::vector<void*>& on_host) const;
  // Where tensors are on the device, by argument; 0 for scalars.
  [[nodiscard]] std::vector<std::uint64_t> addresses() const;

  // Inputs to the device, outputs poisoned there.
  void bring(const std::vector<void*>& on_host);
  // A call may be a sample of its blocks, where the spec says so; what kw_prepare makes is whole.
  void begin(bool in_call);
  // Waits for the work, takes the outputs back, and tells what happened: {"error", "error_name", "unwritten", "to_host",
  // "to_device", "host_allocations", "report": [address, bytes]}. The report stays until the next call.
  Json end(const std::vector<void*>& on_host, bool with_outputs);

 private:
  struct Functions;
  GpuHost(const Spec& spec, std::unique_ptr<Functions> functions);

 public:
  ~GpuHost();

 private:
  Spec spec_;
  std::unique_ptr<Functions> functions_;
  std::vector<void*> device_;
  std::vector<char> report_;
};

}  // namespace kw::runner
