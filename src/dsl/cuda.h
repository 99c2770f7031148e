// The DSLs `cuda-c` and `cute`: CUDA compiled by nvcc in the sandbox to a shared object whose device code is PTX, linked with the
// virtual GPU's stand-in for the CUDA runtime. `cute` has the headers of CUTLASS and CuTe.
#pragma once

#include <vector>

#include "dsl/kernel.h"

namespace kw {

Result<CompileOutcome> compile_cuda_c(const ProblemDescription& problem, const KernelSource& source, const fs::path& folder,
                                      const CompileOptions& options);
Result<CompileOutcome> compile_cute(const ProblemDescription& problem, const KernelSource& source, const fs::path& folder,
                                    const CompileOptions& options);

// Any CUDA source with a kw_call, on its way to an object.
struct CudaBuild {
  std::string text;
  std::string file;         // for messages
  std::string declaration;  // the same
  bool has_prepare = false;
  std::vector<fs::path> headers;     // folders that it may include from
  std::vector<std::string> options;  // of nvcc, beside those that all have
};
Result<CompileOutcome> build_cuda_object(const CudaBuild& build, const fs::path& folder, const CompileOptions& options);

// "nvcc V13.0.88", or an error that says what to install.
Result<std::string> cuda_compiler_version();
// With the data sheet that they are for: its limits decide what may run.
Result<std::vector<std::string>> cuda_c_flags(const CompileOptions& options);
Result<std::vector<std::string>> cute_flags(const CompileOptions& options);

}  // namespace kw
