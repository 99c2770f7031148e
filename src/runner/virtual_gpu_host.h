// The virtual GPU: the CUDA runtime's stand-in, with the checks and counters that it has beside the runtime's functions.
#pragma once

#include "runner/gpu_host.h"

namespace kw::runner {

Result<std::unique_ptr<GpuHost>> open_virtual_gpu_host(const Spec& spec);

}  // namespace kw::runner
