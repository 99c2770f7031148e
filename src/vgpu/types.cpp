// Names and widths of PTX types and spaces.
#include <array>
#include <utility>

#include "vgpu/lanes.h"
#include "vgpu/ptx_module.h"

namespace kw::vgpu {
namespace {

struct TypeRow {
  Type type;
  std::string_view name;
  int bits;
};
constexpr std::array kTypeRows = {
    TypeRow{Type::pred, "pred", 1},      TypeRow{Type::b8, "b8", 8},          TypeRow{Type::u8, "u8", 8},
    TypeRow{Type::s8, "s8", 8},          TypeRow{Type::b16, "b16", 16},       TypeRow{Type::u16, "u16", 16},
    TypeRow{Type::s16, "s16", 16},       TypeRow{Type::b32, "b32", 32},       TypeRow{Type::u32, "u32", 32},
    TypeRow{Type::s32, "s32", 32},       TypeRow{Type::b64, "b64", 64},       TypeRow{Type::u64, "u64", 64},
    TypeRow{Type::s64, "s64", 64},       TypeRow{Type::b128, "b128", 128},    TypeRow{Type::f16, "f16", 16},
    TypeRow{Type::f16x2, "f16x2", 32},   TypeRow{Type::bf16, "bf16", 16},     TypeRow{Type::bf16x2, "bf16x2", 32},
    TypeRow{Type::tf32, "tf32", 32},     TypeRow{Type::f32, "f32", 32},       TypeRow{Type::f64, "f64", 64},
    TypeRow{Type::f32x2, "f32x2", 64},   TypeRow{Type::e4m3, "e4m3", 8},      TypeRow{Type::e5m2, "e5m2", 8},
    TypeRow{Type::e4m3x2, "e4m3x2", 16}, TypeRow{Type::e5m2x2, "e5m2x2", 16}, TypeRow{Type::u16x2, "u16x2", 32},
    TypeRow{Type::s16x2, "s16x2", 32},   TypeRow{Type::u8x4, "u8x4", 32},     TypeRow{Type::s8x4, "s8x4", 32},
    TypeRow{Type::u4, "u4", 4},          TypeRow{Type::s4, "s4", 4},          TypeRow{Type::b1, "b1", 1},
};

}  // namespace

int type_bits(Type type) {
  for (const TypeRow& row : kTypeRows) {
    if (row.type == type) return row.bits;
  }
  return 0;
}

Type type_named(std::string_view name) {
  for (const TypeRow& row : kTypeRows) {
    if (row.name == name) return row.type;
  }
  return Type::none;
}

std::string_view type_name(Type type) {
  for (const TypeRow& row : kTypeRows) {
    if (row.type == type) return row.name;
  }
  return "none";
}

int lane_bytes(Type type) {
  if (type == Type::pred || type == Type::none) return 0;
  const int bits = type_bits(type);
  return bits <= 32 ? 4 : bits / 8;
}

std::string_view space_name(Space space) {
  constexpr std::array<std::string_view, 7> kNames = {"generic", "global", "shared", "local", "const", "param", "reg"};
  return kNames[static_cast<std::size_t>(space)];
}

std::string ParsedInstruction::full_name() const {
  std::string name(opcode);
  for (std::string_view modifier : modifiers) name.append(".").append(modifier);
  return name;
}

bool ParsedInstruction::has(std::string_view modifier) const {
  for (std::string_view own : modifiers) {
    if (own == modifier) return true;
  }
  return false;
}

}  // namespace kw::vgpu
