// What a launch did, counted exactly except for the caches, which are a model: totals and, separately, by source line.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "vgpu/lanes.h"

namespace kw::vgpu {

struct LineCounters {
  std::array<std::uint64_t, kPipes> issued{};  // warp instructions by Pipe
  std::uint64_t warp_instructions = 0;
  std::uint64_t lane_instructions = 0;  // sum of active lanes over warp instructions

  std::uint64_t flops_fp32 = 0, flops_fp64 = 0, flops_fp16 = 0, flops_tensor = 0;
  std::uint64_t special_functions = 0;  // lanes of ex2, sin, rcp, ...

  std::uint64_t global_load_requests = 0, global_load_sectors = 0, global_load_bytes = 0;     // sectors of 32 bytes
  std::uint64_t global_store_requests = 0, global_store_sectors = 0, global_store_bytes = 0;  // bytes that lanes asked for
  std::uint64_t l1_hits = 0, l1_misses = 0, l2_hits = 0, l2_misses = 0;                       // sectors, by the model
  std::uint64_t dram_bytes = 0;                                                               // sectors that missed L2, times 32
  std::uint64_t local_requests = 0, local_bytes = 0;
  std::uint64_t shared_load_requests = 0, shared_store_requests = 0, shared_bytes = 0;
  std::uint64_t shared_wavefronts = 0;  // passes over the banks; requests + conflicts
  std::uint64_t shared_conflicts = 0;   // passes beyond what a conflict-free access of that width needs
  std::uint64_t constant_requests = 0;
  std::uint64_t async_copy_bytes = 0;
  std::uint64_t atomics = 0;  // warp instructions
  std::uint64_t atomic_lanes = 0;
  std::uint64_t barriers = 0;  // warps that arrived at a barrier
  std::uint64_t branches = 0, divergent_branches = 0;

  void add(const LineCounters& other);
  void scale(double by);  // what a sample of blocks counted, to all of them
};

struct Counters : LineCounters {
  // (file, line) of the source; line 0 where there is no -lineinfo.
  std::map<std::pair<std::string, int>, LineCounters> lines;
  std::uint64_t blocks = 0, warps = 0, threads = 0;

  void scale_all(double by);  // the lines too
};

}  // namespace kw::vgpu
