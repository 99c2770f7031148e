// The DSL `opencl`: OpenCL C compiled by the device's own compiler in the sandbox to a program's binary, which the runner launches
// by the plan that the file's launch lines say.
#pragma once

#include "dsl/kernel.h"

namespace kw {

Result<CompileOutcome> compile_opencl(const ProblemDescription& problem, const KernelSource& source, const fs::path& folder,
                                      const CompileOptions& options);

// "OpenCL 3.0 PoCL 3.1 ... on pthread-haswell", or an error that says what to install.
Result<std::string> opencl_compiler_version();
Result<std::vector<std::string>> opencl_flags(const CompileOptions& options);

}  // namespace kw
