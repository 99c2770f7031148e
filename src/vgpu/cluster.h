// Blocks of a cluster: they run on the same host thread and see each other's shared memory.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "vgpu/shared_shadow.h"

namespace kw::vgpu {

struct Block;

struct Cluster {
  std::vector<Block*> blocks;    // by rank
  std::uint32_t generation = 0;  // of its barrier
  bool in_use = false;           // some lanes have arrived
  WarpClock clock{};
};

// nullptr where the cluster has no block of that rank.
Block* cluster_block(Block& block, std::uint32_t rank);

}  // namespace kw::vgpu
