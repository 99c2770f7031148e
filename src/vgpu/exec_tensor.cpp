// cp.async.bulk.tensor in tiles: boxes of a tensor between global and shared memory. A copy is done when it is issued; what it
// touches is checked and counted as if the warp's lanes moved it, 32 pieces at a time.
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "vgpu/access.h"
#include "vgpu/exec.h"
#include "vgpu/tensor_map.h"

namespace kw::vgpu {
namespace {

// A box at its place in the tensor, in pieces that lie as a whole inside the tensor or outside.
class Box {
 public:
  Box(const TensorMap& map, const std::int32_t* at) : map_(map) {
    for (int i = 0; i < map.rank; ++i) {
      at_[i] = at[i];
      count_[i] = (map.box[i] + map.steps[i] - 1u) / map.steps[i];
    }
    const std::uint64_t begin = static_cast<std::uint64_t>(at_[0]) * map.element_bytes, end = map.dims[0] * map.element_bytes;
    piece_ = map.steps[0] == 1 && begin % 16 == 0 && end % 16 == 0 ? 16 : map.element_bytes;
    pieces_of_row_ = count_[0] * map.element_bytes / piece_;
    pieces_ = pieces_of_row_;
    for (int i = 1; i < map.rank; ++i) pieces_ *= count_[i];
  }

  [[nodiscard]] std::uint32_t piece() const { return piece_; }
  [[nodiscard]] std::uint32_t pieces() const { return pieces_; }
  [[nodiscard]] std::uint32_t bytes() const { return pieces_ * piece_; }

  // The address of a piece in global memory; false: it is outside of the tensor.
  bool find(std::uint32_t number, std::uint64_t& address) const {
    std::uint32_t row = number / pieces_of_row_;
    const std::int64_t first =
        at_[0] + static_cast<std::int64_t>(number % pieces_of_row_ * piece_ / map_.element_bytes) * map_.steps[0];
    if (first < 0 || first >= static_cast<std::int64_t>(map_.dims[0])) return false;
    address = map_.base + static_cast<std::uint64_t>(first) * map_.element_bytes;
    for (int i = 1; i < map_.rank; ++i) {
      const std::int64_t place = at_[i] + static_cast<std::int64_t>(row % count_[i]) * map_.steps[i];
      row /= count_[i];
      if (place < 0 || place >= static_cast<std::int64_t>(map_.dims[i])) return false;
      address += static_cast<std::uint64_t>(place) * map_.strides[i - 1];
    }
    return true;
  }

 private:
  const TensorMap& map_;
  std::int64_t at_[kTensorRank] = {};
  std::uint32_t count_[kTensorRank] = {};
  std::uint32_t piece_ = 0, pieces_of_row_ = 0, pieces_ = 0;
};

// What a load puts where the tensor has nothing.
void fill(void* place, std::uint32_t bytes, const TensorMap& map) {
  std::memset(place, 0, bytes);
  if (map.fill_with_nan == 0) return;
  auto* to = static_cast<unsigned char*>(place);
  for (std::uint32_t i = 0; i < bytes; ++i) to[i] = (i + 1) % map.element_bytes == 0 ? 0x7f : 0xff;  // little-endian
}

bool read_map(Warp& warp, const Instruction& instruction, int lane, std::uint64_t address, TensorMap& map) {
  Access access;
  access.bytes = 16;
  access.space = Space::global;
  Instruction plain = instruction;
  plain.flags = kWideAddress;
  for (const std::uint64_t at : {sizeof(TensorMap) - 16, std::size_t{0}}) {
    access.addresses[lane] = address + at;
    if (!resolve(warp, plain, 1u << lane, access)) return false;
  }
  std::memcpy(&map, reinterpret_cast<const void*>(access.places[lane]), sizeof map);
  if (map.magic == kTensorMapMagic) return true;
  warp.launch->report("out_of_bounds", warp, instruction, lane, "there is no tensor map that cuTensorMapEncodeTiled made", {},
                      true);
  return false;
}

// Shared memory of other blocks of the cluster, which checks of this block do not look at, is written too.
void initialise_elsewhere(Warp& warp, std::uint32_t mask, const Access& access) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t address = access.addresses[std::countr_zero(rest)];
    if (address >> 24 == 0) continue;
    shared_owner(warp, address)->shadow.initialise(static_cast<std::uint32_t>(address & 0xffffffu), access.bytes);
  }
}

// One box, to or from one block's shared memory.
bool move_box(Warp& warp, const Instruction& instruction, const TensorMap& map, const Box& box, std::uint64_t shared, bool loads) {
  Instruction of_global = instruction, of_shared = instruction;
  of_global.flags = static_cast<std::uint8_t>(kWideAddress | (loads ? 0 : kStore));
  of_shared.flags = static_cast<std::uint8_t>(kWideAddress | (loads ? kStore : 0));
  // Not a vector of registers, which checks would look into.
  of_global.list_size = of_shared.list_size = kNowhere;
  for (std::uint32_t first = 0; first < box.pieces(); first += kLanes) {
    Access far, near;
    far.bytes = near.bytes = box.piece();
    far.space = Space::global;
    near.space = Space::shared;
    std::uint32_t all = 0, inside = 0;
    for (std::uint32_t i = 0; i < kLanes && first + i < box.pieces(); ++i) {
      all |= 1u << i;
      near.addresses[i] = swizzled(shared + std::uint64_t{first + i} * box.piece(), map.swizzle);
      if (box.find(first + i, far.addresses[i])) inside |= 1u << i;
    }
    const std::uint32_t touched = loads ? all : inside;
    if (touched == 0) continue;
    if (!resolve(warp, of_shared, touched, near) || (inside != 0 && !resolve(warp, of_global, inside, far))) return false;
    if (inside != 0) observe(warp, of_global, inside, far, loads, !loads);
    observe(warp, of_shared, touched, near, !loads, loads);
    if (loads && warp.launch->options.checks) initialise_elsewhere(warp, touched, near);
    for (std::uint32_t rest = touched; rest != 0; rest &= rest - 1) {
      const int i = std::countr_zero(rest);
      auto* const near_place = reinterpret_cast<void*>(near.places[i]);
      auto* const far_place = reinterpret_cast<void*>(far.places[i]);
      if (((inside >> i) & 1u) == 0) {
        fill(near_place, box.piece(), map);
      } else {
        std::memcpy(loads ? near_place : far_place, loads ? far_place : near_place, box.piece());
      }
    }
  }
  return true;
}

}  // namespace

// a, imm: shared memory; b: the map; d: mbarrier; c: blocks of the cluster, where it is a multicast; the list: coordinates, then
// the offsets of map and mbarrier; count: rank; aux 1: a load.
bool exec_cp_tensor(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const std::uint32_t* refs = warp.launch->module->lists.data() + instruction.target;
  const bool loads = (instruction.aux & 1u) != 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const auto offset_at = [&](int i) { return static_cast<std::int32_t>(refs[instruction.count + i]); };
    TensorMap map;
    const std::uint64_t map_address =
        warp.as<std::uint64_t>(instruction.b)[lane] + static_cast<std::uint64_t>(std::int64_t{offset_at(0)});
    if (!read_map(warp, instruction, lane, map_address, map)) return false;
    if (map.rank != instruction.count) {
      warp.launch->report("out_of_bounds", warp, instruction, lane,
                          fmt::format("copies with {} coordinates, but the tensor map has {}", instruction.count, map.rank), {},
                          true);
      return false;
    }
    std::int32_t at[kTensorRank] = {};
    for (int i = 0; i < map.rank; ++i) at[i] = warp.as<std::int32_t>(refs[i])[lane];
    const Box box(map, at);
    const std::uint64_t shared = warp.as<std::uint64_t>(instruction.a)[lane] + static_cast<std::uint64_t>(instruction.imm);
    if (shared % 128 != 0) {
      warp.launch->report("misaligned", warp, instruction, lane,
                          fmt::format("the box is at byte {} of shared memory, which is no multiple of 128", shared & 0xffffffu),
                          {}, true);
      return false;
    }
    const std::uint64_t barrier = instruction.d == kNoOperand ? 0
                                                              : warp.as<std::uint64_t>(instruction.d)[lane] +
                                                                    static_cast<std::uint64_t>(std::int64_t{offset_at(1)});
    const bool is_multicast = instruction.c != kNoOperand;
    // 0: where the address says; else the block of that rank, less one.
    const std::uint32_t ranks = is_multicast ? std::uint32_t{warp.as<std::uint16_t>(instruction.c)[lane]} << 1 : 1u;
    for (std::uint32_t left = ranks; left != 0; left &= left - 1) {
      const auto rank = static_cast<std::uint64_t>(std::countr_zero(left));
      const auto in_block = [&](std::uint64_t address) { return is_multicast ? (address & 0xffffffu) | rank << 24 : address; };
      if (!move_box(warp, instruction, map, box, in_block(shared), loads)) return false;
      if (loads && !complete_bytes(warp, instruction, lane, in_block(barrier), box.bytes())) return false;
    }
    if (warp.launch->options.counters) warp.worker->slots[instruction.slot].async_copy_bytes += box.bytes();
  }
  return true;
}

}  // namespace kw::vgpu
