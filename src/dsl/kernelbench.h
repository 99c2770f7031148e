// KernelBench's own form: a Python file with the class ModelNew, in plain PyTorch, with inline C++, or with Triton. Compiling it is
// loading it once in the sandbox, so that its extensions are built in a folder of its own.
#pragma once

#include "dsl/kernel.h"

namespace kw {

// Whether a text defines ModelNew, in words: what a file really defines shows when it is loaded.
bool mentions_model_new(std::string_view text);
// Its kernels run on the virtual GPU: their time is estimated, never measured.
bool imports_triton(std::string_view text);

Result<CompileOutcome> compile_kernelbench(const ProblemDescription& problem, const KernelSource& source, const fs::path& folder,
                                           const CompileOptions& options);
Result<std::string> kernelbench_version();
Result<std::vector<std::string>> kernelbench_flags(const CompileOptions& options);

}  // namespace kw
