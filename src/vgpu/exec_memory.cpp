// Loads, stores and fences.
#include <atomic>
#include <bit>
#include <cstring>

#include "vgpu/access.h"
#include "vgpu/exec.h"

namespace kw::vgpu {

// dst/target: the registers; a, imm: the address; load: how one element is read.
bool exec_ld(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const std::uint32_t bytes = static_cast<std::uint32_t>(instruction.bytes) * instruction.count;
  const std::uint32_t* refs = warp.launch->module->lists.data() + instruction.target;
  return for_each_space(warp, instruction, mask, bytes, [&](const Access& access, std::uint32_t part) {
    observe(warp, instruction, part, access, true, false);
    const bool plain = instruction.bytes == instruction.dst_bytes;
    if (access.contiguous && plain && instruction.count == 1) {
      std::memcpy(warp.at(instruction.dst), reinterpret_cast<const void*>(access.places[0]),
                  static_cast<std::size_t>(bytes) * kLanes);
    } else if (access.contiguous && plain && instruction.bytes == 4) {
      void* registers[8];
      for (int e = 0; e < instruction.count; ++e) registers[e] = warp.at(refs[e]);
      lane_moves().split32(registers, reinterpret_cast<const void*>(access.places[0]), instruction.count);
    } else {
      for (std::uint32_t e = 0; e < instruction.count; ++e)
        instruction.load(warp.at(refs[e]), access.places, e * instruction.bytes, part);
    }
    if ((instruction.flags & kStrong) != 0) note_acquire(warp);
  });
}

bool exec_st(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const std::uint32_t bytes = static_cast<std::uint32_t>(instruction.bytes) * instruction.count;
  const std::uint32_t* refs = warp.launch->module->lists.data() + instruction.target;
  if ((instruction.flags & kRelease) != 0) note_release(warp);
  return for_each_space(warp, instruction, mask, bytes, [&](const Access& access, std::uint32_t part) {
    observe(warp, instruction, part, access, false, true);
    const bool plain = instruction.bytes == instruction.dst_bytes;
    if (access.contiguous && plain && instruction.count == 1) {
      std::memcpy(reinterpret_cast<void*>(access.places[0]), warp.at(instruction.b), static_cast<std::size_t>(bytes) * kLanes);
    } else if (access.contiguous && plain && instruction.bytes == 4) {
      const void* registers[8];
      for (int e = 0; e < instruction.count; ++e) registers[e] = warp.at(refs[e]);
      lane_moves().merge32(reinterpret_cast<void*>(access.places[0]), registers, instruction.count);
    } else {
      for (std::uint32_t e = 0; e < instruction.count; ++e)
        instruction.store(warp.at(refs[e]), access.places, e * instruction.bytes, part);
    }
  });
}

// imm: offset in the launch's parameters, checked by decode.
bool exec_ld_param(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const std::uint32_t* refs = warp.launch->module->lists.data() + instruction.target;
  std::uint64_t places[kLanes];
  const std::uint64_t place =
      reinterpret_cast<std::uint64_t>(warp.launch->params.data()) + static_cast<std::uint64_t>(instruction.imm);
  for (std::uint64_t& each : places) each = place;
  for (std::uint32_t e = 0; e < instruction.count; ++e) instruction.load(warp.at(refs[e]), places, e * instruction.bytes, mask);
  return true;
}

// aux 1: only for the block.
bool exec_fence(Warp& warp, const Instruction& instruction, std::uint32_t /*mask*/) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (warp.launch->options.checks) {
    if (instruction.aux == 0) note_release(warp);
  }
  return true;
}

}  // namespace kw::vgpu
