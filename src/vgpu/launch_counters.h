// The counters of a launch from what its workers counted by instruction. Of a sample they are those of all blocks: the blocks that
// were taken in order as they are, the rest by what blocks from all over counted.
#pragma once

#include <vector>

#include "vgpu/launch.h"

namespace kw::vgpu {

Counters launch_counters(const Launch& launch, const std::vector<Worker>& in_order, const std::vector<Worker>& spread);

}  // namespace kw::vgpu
