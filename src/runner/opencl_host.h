// OpenCL in the runner's process: the device and its threads are there before the kernels' code is, the runner's buffers are the
// device's, and what launches share between them has guards, too. It never judges.
#pragma once

#include <memory>
#include <vector>

#include "opencl/program.h"
#include "runner/buffers.h"

namespace kw::runner {

class OpenClHost {
 public:
  // The runtime, its threads (each on a core of its own where there are as many), the program's binary: all before the doors close.
  static Result<std::unique_ptr<OpenClHost>> open(const Spec& spec, const Buffers& buffers);

  // Every launch once on tensors of zeros: a runtime loads code when it is first launched, which needs files. Nothing of the
  // problem's data is seen by it.
  Status load();
  // The launches that prepare, or the others.
  Status run(const std::vector<void*>& arguments, bool prepare) { return program_->run(arguments, prepare); }
  // Where the tensors of zeros are, by argument: the first byte of their regions.
  [[nodiscard]] const std::vector<char*>& blanks() const { return blanks_; }

 private:
  explicit OpenClHost(const Spec& spec) : spec_(spec) {}
  Spec spec_;
  std::vector<char*> blanks_;
  std::vector<void*> blank_arguments_;
  std::unique_ptr<opencl::Program> program_;
};

}  // namespace kw::runner
