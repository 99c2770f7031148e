// The DSLs `triton` and `tilelang`: Python modules with `launch(inputs..., parameters..., outputs...)`. The compile step runs
// launch() once in the sandbox, on tensors without contents, and builds an object that launches the same kernels; see
// docs/decisions for why. No Python runs when a kernel is judged.
#pragma once

#include "dsl/kernel.h"

namespace kw {

Result<CompileOutcome> compile_triton(const ProblemDescription& problem, const KernelSource& source, const fs::path& folder,
                                      const CompileOptions& options);
Result<CompileOutcome> compile_tilelang(const ProblemDescription& problem, const KernelSource& source, const fs::path& folder,
                                        const CompileOptions& options);

// "triton 3.9.0, torch 2.15.0", or an error that says what to install.
Result<std::string> triton_version();
Result<std::string> tilelang_version();
Result<std::vector<std::string>> triton_flags(const CompileOptions& options);
Result<std::vector<std::string>> tilelang_flags(const CompileOptions& options);

// "def launch(x, weight, out)": what a module has to define.
std::string launch_declaration(const ProblemDescription& problem);

}  // namespace kw
