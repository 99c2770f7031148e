// The embedded coder for OpenCL devices that are CPUs: the families of GPUs in OpenCL C's spelling, with rows and products of its
// own. It reads shapes and operations, never names or files, and it compiles and runs nothing.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "playbook/stage.h"
#include "record/kernel.h"
#include "record/problem.h"
#include "record/strategy.h"

namespace kw {

class OpenClPlaybook {
 public:
  // Error (bad_input): names the operations that it does not know, and where they are.
  static Result<OpenClPlaybook> read(const ProblemDescription& problem, const MachineFacts& machine);
  [[nodiscard]] const Features& features() const;
  // {}: the plain source, a kernel for each operation, a work-item for each element of its result.
  [[nodiscard]] Result<Kernel> write(const std::vector<std::string>& strategies) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace kw
