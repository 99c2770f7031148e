// A real GPU through NVIDIA's CUDA runtime: each call between two events on the kernel's stream, after the caches were filled with
// other data. Also what GPUs there are.
#pragma once

#include "runner/gpu_host.h"

namespace kw::runner {

Result<std::unique_ptr<GpuHost>> open_device_host(const Spec& spec);

// The GPUs that this runtime sees: [{"index", "name", "cc_major", "cc_minor", "sm_count", "clock_khz", "memory_clock_khz",
// "memory_bus_bits", "l2_bytes"}]; an error says why there are none.
Result<Json> list_devices(const std::string& library);

}  // namespace kw::runner
