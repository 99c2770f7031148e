// Where lanes that take different ways at a branch meet again: the immediate post-dominator, with blocks that only leave the
// function left out, so that an early return keeps no other lane from meeting. The end itself is no such place: a lane that has
// nothing left to do ends, and no barrier waits for it.
#pragma once

#include <vector>

#include "vgpu/ptx_module.h"

namespace kw::vgpu {

// For each instruction of the function: the instruction where the lanes meet after it branches; -1 where it doesn't branch or they
// meet only at the end.
std::vector<int> meeting_points(const ParsedFunction& function);

}  // namespace kw::vgpu
