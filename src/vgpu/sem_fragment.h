// How the matrices of mma.sync and wmma lie in the registers of a warp. Everything is made of blocks of eight rows, in which lane
// 4g + t holds what belongs to row g: of a (and of b, transposed) one register is a block of 8 x 4E, E elements to 32 bits (or one
// of 64), with elements t*E... of row g; of c two values, columns 2t and 2t + 1. Blocks go down the rows first, then along.
#pragma once

#include "vgpu/lanes.h"

namespace kw::vgpu {

struct BlockOrder {
  int row_blocks = 1;  // extent in rows / 8
  [[nodiscard]] constexpr int row_of(int block) const { return block % row_blocks * 8; }
  [[nodiscard]] constexpr int along_of(int block, int width) const { return block / row_blocks * width; }
};

// Bits of an element of a or b; 0 for types that no fragment has.
constexpr int fragment_bits(Type type) {
  switch (type) {
    case Type::f64:
      return 64;
    case Type::tf32:
    case Type::f32:
      return 32;
    case Type::f16:
    case Type::bf16:
      return 16;
    case Type::e4m3:
    case Type::e5m2:
    case Type::u8:
    case Type::s8:
      return 8;
    case Type::u4:
    case Type::s4:
      return 4;
    case Type::b1:
      return 1;
    default:
      return 0;
  }
}
constexpr int elements_per_register(Type type) { return fragment_bits(type) >= 32 ? 1 : 32 / fragment_bits(type); }

// Registers of a lane that hold rows x along elements of a or b, without the copies that wmma keeps of some.
constexpr int operand_registers(int rows, int along, Type type) { return rows * along / (32 * elements_per_register(type)); }
// Registers of c and d: two float16 share one.
constexpr int accumulator_registers(int m, int n, Type type) { return m * n / 32 / (type == Type::f16 ? 2 : 1); }

}  // namespace kw::vgpu
