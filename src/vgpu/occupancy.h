// How many blocks of a kernel an SM holds at once, by the data sheet: the arithmetic of NVIDIA's occupancy calculator.
#pragma once

#include <cstdint>
#include <string>

#include "vgpu/gpu_sheet.h"

namespace kw::vgpu {

struct Occupancy {
  int blocks_per_sm = 0;  // 0: the kernel cannot be launched
  int warps_per_sm = 0;
  double share = 0;     // of the warps that the SM could hold
  std::string limiter;  // threads, blocks, registers or shared memory; why it is not more
};

// registers: of a thread; 0 where unknown, which limits nothing. shared: static and dynamic bytes of a block.
Occupancy occupancy_of(const GpuSheet& sheet, int threads_per_block, int registers, std::uint64_t shared);

// The largest dynamic shared memory of a block with which so many blocks still fit on an SM.
std::uint64_t shared_for_blocks(const GpuSheet& sheet, int blocks_per_sm, std::uint64_t static_shared);

}  // namespace kw::vgpu
