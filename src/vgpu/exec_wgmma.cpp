// wgmma: products whose operands are matrices in shared memory, named by descriptors. Each warp of the group computes its own 16
// rows, at once: what is asynchronous on a GPU is done when it is issued.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "vgpu/exec.h"
#include "vgpu/launch.h"

namespace kw::vgpu {
namespace {

// Where the elements of a matrix lie: 8 rows of 16 bytes are a core matrix; a swizzle exchanges the 16-byte parts of a line.
struct SharedMatrix {
  std::uint64_t start = 0, leading = 0, stride = 0;
  int swizzle = 0;          // bytes of a line; 0: none
  bool along_rows = false;  // the contiguous direction is m or n, not k
  int element = 2;          // bytes

  SharedMatrix(std::uint64_t descriptor, bool turned, int element_bytes)
      : start((descriptor & 0x3fffu) << 4),
        leading(((descriptor >> 16) & 0x3fffu) << 4),
        stride(((descriptor >> 32) & 0x3fffu) << 4),
        along_rows(turned),
        element(element_bytes) {
    constexpr int kLines[4] = {0, 128, 64, 32};
    swizzle = kLines[descriptor >> 62];
  }
  [[nodiscard]] std::uint64_t place(int row, int k) const {
    const auto bytes = static_cast<std::uint64_t>(element);
    const std::uint64_t r = static_cast<std::uint64_t>(row), c = static_cast<std::uint64_t>(k);
    const auto line = static_cast<std::uint64_t>(swizzle);
    std::uint64_t at = start;
    if (!along_rows) {
      const std::uint64_t byte = c * bytes;
      at += swizzle == 0 ? r / 8 * stride + byte / 16 * leading + r % 8 * 16 + byte % 16 : r / 8 * stride + r % 8 * line + byte;
    } else {
      const std::uint64_t byte = r * bytes;
      at += swizzle == 0 ? byte / 16 * stride + c / 8 * leading + c % 8 * 16 + byte % 16
                         : byte / line * leading + byte % line + c / 8 * stride + c % 8 * line;
    }
    // The address bits above a line choose how its 16-byte parts are exchanged.
    if (swizzle == 128) at ^= (at >> 3) & 0x70u;
    if (swizzle == 64) at ^= (at >> 3) & 0x30u;
    if (swizzle == 32) at ^= (at >> 3) & 0x10u;
    return at;
  }
};

float half_value(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  float value = 0;
  if (exponent == 31) {
    value = fraction == 0 ? INFINITY : NAN;
  } else {
    value = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                          : std::ldexp(static_cast<float>(fraction | 1024), exponent - 25);
  }
  return (bits & 0x8000u) != 0 ? -value : value;
}

float element_value(Type type, const std::byte* from) {
  if (type == Type::tf32) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, from, 4);
    return std::bit_cast<float>(bits & 0xffffe000u);
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, from, 2);
  return type == Type::bf16 ? std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16) : half_value(bits);
}

}  // namespace

// target: the registers of d, then (of a in registers) the four of a. a: descriptor of a or none; b: descriptor of b; c: predicate
// that says whether d is added to. count: n / 8; bytes: of an element; type: of a and b; imm: bit 0 negates a, 1 negates b, 2 turns
// a, 3 turns b.
bool exec_wgmma(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  if (mask != 0xffffffffu) {
    warp.launch->report("divergent_barrier", warp, instruction, std::countr_zero(mask),
                        "wgmma is executed by a part of a warp's lanes", {}, true);
    return false;
  }
  const std::uint32_t* refs = warp.launch->module->lists.data() + instruction.target;
  const int n = instruction.count * 8, depth = 32 / instruction.bytes, first_row = 16 * (warp.index % 4);
  const SharedMatrix right(warp.as<std::uint64_t>(instruction.b)[0], (instruction.imm & 8) != 0, instruction.bytes);
  float a[16][16], b[16][256];
  const auto load = [&](const SharedMatrix& matrix, int row, int k, float& to) {
    const std::uint64_t at = matrix.place(row, k);
    if (at + instruction.bytes > warp.block->shared_bytes) {
      warp.launch->report("out_of_bounds", warp, instruction, 0,
                          fmt::format("a matrix of wgmma reaches byte {} of the block's shared memory, which has {} bytes", at,
                                      warp.block->shared_bytes),
                          "shared memory", true);
      return false;
    }
    to = element_value(instruction.type, warp.block->shared + at);
    return true;
  };
  for (int k = 0; k < depth; ++k) {
    for (int column = 0; column < n; ++column) {
      if (!load(right, column, k, b[k][column])) return false;
      if ((instruction.imm & 2) != 0) b[k][column] = -b[k][column];
    }
  }
  if (instruction.a != kNoOperand) {
    const SharedMatrix left(warp.as<std::uint64_t>(instruction.a)[0], (instruction.imm & 4) != 0, instruction.bytes);
    for (int row = 0; row < 16; ++row) {
      for (int k = 0; k < depth; ++k) {
        if (!load(left, first_row + row, k, a[row][k])) return false;
      }
    }
  } else {
    // As the a of mma: registers 0 and 1 hold rows lane/4 and lane/4+8, 2 and 3 the upper half of k.
    for (int r = 0; r < 4; ++r) {
      const std::byte* from = warp.at(refs[instruction.list_size - 4 + static_cast<std::uint32_t>(r)]);
      for (int lane = 0; lane < kLanes; ++lane) {
        const int per_word = 4 / instruction.bytes;
        for (int e = 0; e < per_word; ++e) {
          const int k = lane % 4 * per_word + e + (r / 2) * depth / 2;
          a[lane / 4 + 8 * (r % 2)][k] = element_value(instruction.type, from + lane * 4 + e * instruction.bytes);
        }
      }
    }
  }
  if ((instruction.imm & 1) != 0) {
    for (auto& row : a) {
      for (float& value : row) value = -value;
    }
  }
  const bool adds = instruction.c == kNoOperand || (warp.predicate(instruction.c) & 1u) != 0;
  for (int j = 0; j < n / 8; ++j) {
    for (int r = 0; r < 4; ++r) {
      auto* d = warp.as<float>(refs[j * 4 + r]);
      for (int lane = 0; lane < kLanes; ++lane) {
        const int row = lane / 4 + 8 * (r / 2), column = 8 * j + 2 * (lane % 4) + r % 2;
        float sum = adds ? d[lane] : 0.0f;
        for (int k = 0; k < depth; ++k) sum += a[row][k] * b[k][column];
        d[lane] = sum;
      }
    }
  }
  return true;
}

}  // namespace kw::vgpu
