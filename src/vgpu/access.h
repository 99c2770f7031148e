// From the addresses of an instruction to places in the host's memory, with all the checks on the way and the counters.
#pragma once

#include <cstdint>

#include "vgpu/launch.h"

namespace kw::vgpu {

struct Access {
  alignas(64) std::uint64_t places[kLanes];     // addresses of the host, for lanes of the mask
  alignas(64) std::uint64_t addresses[kLanes];  // as the kernel has them, without tags
  Space space = Space::global;
  bool contiguous = false;           // all 32 lanes, without gaps, in order
  std::uint32_t bytes = 0;           // of a lane
  Allocation* allocation = nullptr;  // of global memory, where all lanes are in the same one
};

// addresses: of the instruction's address operand and offset. True: contiguous for `bytes`.
bool compute_addresses(const Warp& warp, const Instruction& instruction, std::uint32_t bytes, std::uint64_t* addresses);

// Splits by space, resolves and checks each part, and calls use(access, part of the mask). False: a check stopped the launch.
template <typename Use>
bool for_each_space(Warp& warp, const Instruction& instruction, std::uint32_t mask, std::uint32_t bytes, Use&& use);

// One space: bounds and alignment. False: stopped.
bool resolve(Warp& warp, const Instruction& instruction, std::uint32_t mask, Access& access);
// Initialisation and races, where checks are on; counters where they are on. Called between resolve and the access itself.
void observe(Warp& warp, const Instruction& instruction, std::uint32_t mask, const Access& access, bool reads, bool writes);
// The parts of it.
void check_global(Warp& warp, const Instruction& instruction, std::uint32_t mask, const Access& access, bool reads, bool writes);
void check_shared(Warp& warp, const Instruction& instruction, std::uint32_t mask, const Access& access, bool reads, bool writes);
void count_global(Warp& warp, const Instruction& instruction, std::uint32_t mask, const Access& access, bool writes);
void count_shared(Warp& warp, const Instruction& instruction, std::uint32_t mask, const Access& access, bool writes);
// Fences and acquiring accesses, for the check of races between blocks.
void note_release(Warp& warp);
void note_acquire(Warp& warp);
// The block whose shared memory an address names; nullptr where the cluster has no such block.
Block* shared_owner(Warp& warp, std::uint64_t address);

Space space_of(std::uint64_t address);
// Takes the tags off and names the space.
bool split_spaces(const std::uint64_t* addresses, std::uint32_t mask, Space* all);

template <typename Use>
bool for_each_space(Warp& warp, const Instruction& instruction, std::uint32_t mask, std::uint32_t bytes, Use&& use) {
  Access access;
  access.bytes = bytes;
  access.contiguous = compute_addresses(warp, instruction, bytes, access.addresses) && mask == 0xffffffffu;
  access.space = instruction.space;
  if (instruction.space != Space::generic || split_spaces(access.addresses, mask, &access.space)) {
    if (!resolve(warp, instruction, mask, access)) return false;
    use(access, mask);
    return true;
  }
  for (const Space space : {Space::global, Space::shared, Space::local}) {
    std::uint32_t part = 0;
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      if (space_of(access.addresses[lane]) == space) part |= 1u << lane;
    }
    if (part == 0) continue;
    access.space = space;
    access.contiguous = false;
    access.allocation = nullptr;
    if (!resolve(warp, instruction, part, access)) return false;
    use(access, part);
  }
  return true;
}

}  // namespace kw::vgpu
