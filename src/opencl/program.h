// A compiled OpenCL program in the runner's process: its launches on the runner's own memory, through the device's runtime. What
// it runs is hostile; it never judges.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "opencl/launch_plan.h"

namespace kw::opencl {

// A tensor's memory in this process. A kernel that is to write through a read-only one crashes.
struct Memory {
  void* data = nullptr;
  std::uint64_t bytes = 0;
};

class Program {
 public:
  // The device with its threads and the program's binary: all before the system's doors close. `memory` has what any call will be
  // given, `scratch` what launches have between them, in the order of the plan.
  static Result<std::unique_ptr<Program>> open(const std::string& binary_file, const LaunchPlan& plan,
                                               const std::vector<Memory>& memory, const std::vector<Memory>& scratch);
  virtual ~Program() = default;

  // Runs the launches that prepare, or the others, in order, and waits for them. `arguments` are the problem's, in its order; they
  // were among the memory that the program was opened with. An error is the runtime's.
  virtual Status run(const std::vector<void*>& arguments, bool prepare) = 0;
};

}  // namespace kw::opencl
