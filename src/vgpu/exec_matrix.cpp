// ldmatrix, stmatrix, wmma.load, wmma.store: memory accesses whose lanes exchange what they read or write.
#include <bit>
#include <cstring>

#include "vgpu/access.h"
#include "vgpu/exec.h"

namespace kw::vgpu {
namespace {

// Lanes 8*m to 8*m+7 give the addresses of the rows of matrix m; all the lanes take part.
bool matrix_access(Warp& warp, const Instruction& instruction, std::uint32_t mask, Access& access, std::uint32_t& rows) {
  rows = instruction.count == 4 ? 0xffffffffu : (1u << (8 * instruction.count)) - 1;
  if (mask != warp.lanes) {
    warp.launch->report("divergent_barrier", warp, instruction, std::countr_zero(mask),
                        "a matrix is moved by a part of the warp's lanes; all of them have to take part", {}, true);
    return false;
  }
  access.bytes = 16;
  access.space = instruction.space;
  compute_addresses(warp, instruction, 16, access.addresses);
  if (instruction.space == Space::generic && !split_spaces(access.addresses, rows, &access.space)) access.space = Space::shared;
  return resolve(warp, instruction, rows, access);
}

}  // namespace

bool exec_ldmatrix(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  Access access;
  std::uint32_t rows = 0;
  if (!matrix_access(warp, instruction, mask, access, rows)) return false;
  observe(warp, instruction, rows, access, true, false);
  const std::uint32_t* refs = warp.launch->module->lists.data() + instruction.target;
  for (int m = 0; m < instruction.count; ++m) {
    alignas(16) std::uint16_t matrix[8][8];
    for (int row = 0; row < 8; ++row) std::memcpy(matrix[row], reinterpret_cast<const void*>(access.places[8 * m + row]), 16);
    auto* to = warp.as<std::uint32_t>(refs[m]);
    for (int lane = 0; lane < kLanes; ++lane) {
      const int row = lane / 4, column = 2 * (lane % 4);
      to[lane] = instruction.aux == 0 ? matrix[row][column] | static_cast<std::uint32_t>(matrix[row][column + 1]) << 16
                                      : matrix[column][row] | static_cast<std::uint32_t>(matrix[column + 1][row]) << 16;
    }
  }
  return true;
}

bool exec_stmatrix(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  Access access;
  std::uint32_t rows = 0;
  if (!matrix_access(warp, instruction, mask, access, rows)) return false;
  observe(warp, instruction, rows, access, false, true);
  const std::uint32_t* refs = warp.launch->module->lists.data() + instruction.target;
  for (int m = 0; m < instruction.count; ++m) {
    alignas(16) std::uint16_t matrix[8][8];
    const auto* from = warp.as<std::uint32_t>(refs[m]);
    for (int lane = 0; lane < kLanes; ++lane) {
      const int row = lane / 4, column = 2 * (lane % 4);
      const auto low = static_cast<std::uint16_t>(from[lane]), high = static_cast<std::uint16_t>(from[lane] >> 16);
      (instruction.aux == 0 ? matrix[row][column] : matrix[column][row]) = low;
      (instruction.aux == 0 ? matrix[row][column + 1] : matrix[column + 1][row]) = high;
    }
    for (int row = 0; row < 8; ++row) std::memcpy(reinterpret_cast<void*>(access.places[8 * m + row]), matrix[row], 16);
  }
  return true;
}

namespace {

template <bool load>
bool move_fragment(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  const FragmentMap& map = warp.launch->module->fragment_maps[instruction.aux];
  const std::uint32_t* refs = warp.launch->module->lists.data() + instruction.target;
  const int elements = map.registers * map.elements_per_register;
  std::uint64_t bases[kLanes];
  compute_addresses(warp, instruction, 1, bases);
  const std::uint32_t bits = static_cast<std::uint32_t>(instruction.bytes) * 8;
  for (int e = 0; e < elements; ++e) {
    Access access;
    access.bytes = instruction.bytes;
    access.space = instruction.space;
    for (int lane = 0; lane < kLanes; ++lane) {
      int row = 0, column = 0;
      map.place(lane, e, &row, &column);
      const auto stride = static_cast<std::int64_t>(instruction.b == kNoOperand ? 16 : warp.as<std::uint32_t>(instruction.b)[lane]);
      const std::int64_t index = map.column_major ? column * stride + row : row * stride + column;
      access.addresses[lane] = bases[lane] + static_cast<std::uint64_t>(index * instruction.bytes);
    }
    if (instruction.space == Space::generic && !split_spaces(access.addresses, mask, &access.space)) access.space = Space::global;
    if (!resolve(warp, instruction, mask, access)) return false;
    observe(warp, instruction, mask, access, load, !load);
    const int shift = static_cast<int>(bits) * (e % map.elements_per_register);
    std::byte* registers = warp.at(refs[e / map.elements_per_register]);
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      auto* place = reinterpret_cast<void*>(access.places[lane]);
      std::uint64_t value = 0;
      if constexpr (load) {
        std::memcpy(&value, place, instruction.bytes);
        if (instruction.dst_bytes == 8) {
          reinterpret_cast<std::uint64_t*>(registers)[lane] = value;
        } else {
          auto& word = reinterpret_cast<std::uint32_t*>(registers)[lane];
          word = shift == 0 ? static_cast<std::uint32_t>(value) : word | static_cast<std::uint32_t>(value << shift);
        }
      } else {
        value = instruction.dst_bytes == 8 ? reinterpret_cast<std::uint64_t*>(registers)[lane]
                                           : reinterpret_cast<std::uint32_t*>(registers)[lane] >> shift;
        std::memcpy(place, &value, instruction.bytes);
      }
    }
  }
  return true;
}

}  // namespace

bool exec_wmma_load(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  return move_fragment<true>(warp, instruction, mask);
}
bool exec_wmma_store(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  return move_fragment<false>(warp, instruction, mask);
}

}  // namespace kw::vgpu
