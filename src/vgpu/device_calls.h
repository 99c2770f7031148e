// What kernels call that the device provides: printf, assert, malloc and free.
#pragma once

#include <cstdint>
#include <string>

#include "vgpu/program.h"

namespace kw::vgpu {

// True: the path goes on behind the call.
bool call_builtin(Warp& warp, const Instruction& instruction, const CallSite& site, std::uint32_t mask);

}  // namespace kw::vgpu
