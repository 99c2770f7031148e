// The counters of a launch from what its workers counted by instruction.
#pragma once

#include <vector>

#include "vgpu/launch.h"

namespace kw::vgpu {

Counters launch_counters(const Launch& launch, const std::vector<Worker>& workers);

}  // namespace kw::vgpu
