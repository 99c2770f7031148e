// What a session's process may see and use, but for descriptors, time and memory: the runner's box, a Python guest's, and the
// virtual GPU in it.
#pragma once

#include "dsl/session.h"
#include "runner/protocol.h"

namespace kw {

// `libraries` is filled once and used again: a timing starts the runner hundreds of times. `opencl_files` are the OpenCL runtime's,
// for kernels in it.
Result<sandbox::Spec> runner_box(const runner::Spec& spec, const SessionOptions& options, std::vector<std::string>& libraries,
                                 const std::vector<std::string>& opencl_files);
Result<sandbox::Spec> guest_box(const SessionOptions& options);
runner::GpuSpec virtual_gpu_spec(const SessionGpu& gpu, int threads);

}  // namespace kw
