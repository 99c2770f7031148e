// What a process needs to see of this machine's NVIDIA GPU: device nodes, the driver's libraries, what the driver reads of the
// system. Only a session that times on the GPU gets it.
#pragma once

#include "dsl/kernel.h"

namespace kw {

// The driver's libraries and the runtime's, under the names that the loader uses.
Result<std::vector<std::string>> driver_files(const vgpu::PresentGpu& gpu);

// Everything beside these files.
void show_device(sandbox::Spec& box, const std::vector<std::string>& files);

}  // namespace kw
