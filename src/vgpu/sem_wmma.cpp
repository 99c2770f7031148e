// Names of the matrix instructions: mma, wmma.mma, movmatrix; and where the fragments of wmma.load and wmma.store lie.
#include <charconv>

#include "vgpu/sem_fragment.h"
#include "vgpu/sem_modifiers.h"

namespace kw::vgpu {

bool Modifiers::take_shape(int* m, int* n, int* k) {
  for (auto at = left_.begin(); at != left_.end(); ++at) {
    const char *next = at->data(), *end = at->data() + at->size();
    const auto number = [&](char letter, int* value) {
      if (next == end || *next != letter) return false;
      const auto [rest, failure] = std::from_chars(next + 1, end, *value);
      next = rest;
      return failure == std::errc();
    };
    if (!number('m', m) || !number('n', n) || !number('k', k) || next != end) continue;
    left_.erase(at);
    return true;
  }
  return false;
}

namespace {

struct Extent {
  int m, n, k;
  bool operator==(const Extent&) const = default;
};

bool is_small_integer(Type type) { return type == Type::u8 || type == Type::s8 || type == Type::u4 || type == Type::s4; }
bool is_small_float(Type type) { return type == Type::e4m3 || type == Type::e5m2; }
bool same_kind(Type a, Type b) {
  return a == b || (is_small_float(a) && is_small_float(b)) ||
         (is_small_integer(a) && is_small_integer(b) && fragment_bits(a) == fragment_bits(b));
}

// The types of a product: what comes in, and what may be summed to.
bool accumulators_fit(const MatrixMode& mode) {
  const auto both = [&](Type type) { return mode.c == type && mode.d == type; };
  if (mode.a == Type::f64) return both(Type::f64);
  if (is_small_integer(mode.a) || mode.a == Type::b1) return both(Type::s32);
  const auto half_or_single = [](Type type) { return type == Type::f16 || type == Type::f32; };
  if (mode.a == Type::f16) return half_or_single(mode.c) && half_or_single(mode.d);
  return both(Type::f32) || (is_small_float(mode.a) && both(Type::f16));
}

bool mma_shape_exists(const MatrixMode& mode) {
  const Extent extent{mode.m, mode.n, mode.k};
  const int step = 4 * elements_per_register(mode.a);
  if (mode.n != 8) return false;
  switch (mode.a) {
    case Type::f16:
      return extent == Extent{8, 8, 4} || extent == Extent{16, 8, 8} || extent == Extent{16, 8, 16};
    case Type::f64:
      return extent == Extent{8, 8, 4} || (mode.m == 16 && (mode.k == 4 || mode.k == 8 || mode.k == 16));
    case Type::bf16:
    case Type::tf32:
    case Type::e4m3:
    case Type::e5m2:
      return mode.m == 16 && (mode.k == step || mode.k == 2 * step);
    default:
      return (mode.m == 8 && mode.k == step) || (mode.m == 16 && (mode.k == step || mode.k == 2 * step));
  }
}
bool wmma_shape_exists(Type a, const Extent& extent) {
  switch (a) {
    case Type::f16:
    case Type::bf16:
    case Type::u8:
    case Type::s8:
      return extent == Extent{16, 16, 16} || extent == Extent{32, 8, 16} || extent == Extent{8, 32, 16};
    case Type::tf32:
      return extent == Extent{16, 16, 8};
    case Type::f64:
      return extent == Extent{8, 8, 4};
    default:
      return false;
  }
}
// wmma keeps float16 operands in eight registers, whatever their size.
int wmma_operand_registers(int rows, int along, Type type) { return type == Type::f16 ? 8 : operand_registers(rows, along, type); }

Type register_type(Type accumulator) { return accumulator == Type::f16 ? Type::b32 : accumulator; }

Semantics matrix_semantics(const MatrixMode& mode, int a_registers, int b_registers) {
  Semantics found;
  if (!accumulators_fit(mode) || !same_kind(mode.a, mode.b) || (mode.saturate && !is_small_integer(mode.a))) return found;
  found.fragment = KW_HOT(matrix_fragment)(mode, &found.immediate);
  const Type operand = mode.a == Type::f64 ? Type::f64 : Type::b32;
  const bool quads = mode.a == Type::f16 && mode.k == 4;  // four products at once
  found.dst = register_type(mode.d);
  found.src[0] = found.src[1] = operand;
  found.src[2] = register_type(mode.c);
  found.src_registers[0] = a_registers;
  found.src_registers[1] = b_registers;
  found.src_registers[2] = quads ? (mode.c == Type::f16 ? 4 : 8) : accumulator_registers(mode.m, mode.n, mode.c);
  found.dst_registers = quads ? (mode.d == Type::f16 ? 4 : 8) : accumulator_registers(mode.m, mode.n, mode.d);
  found.pipe = Pipe::tensor;
  found.flops = static_cast<std::uint32_t>(2 * mode.m * mode.n * mode.k * (quads ? 4 : 1));
  return found;
}

Semantics find_mma(Modifiers& modifiers) {
  MatrixMode mode;
  if (!modifiers.take("sync") || !modifiers.take("aligned") || !modifiers.take_shape(&mode.m, &mode.n, &mode.k)) return {};
  mode.saturate = modifiers.take("satfinite");
  mode.d = modifiers.take_type();
  mode.a = modifiers.take_type();
  mode.b = modifiers.take_type();
  mode.c = modifiers.take_type();
  if (mode.a == Type::b1) {
    mode.bit_and = modifiers.take("and");
    if (!modifiers.take("popc") || (!mode.bit_and && !modifiers.take("xor"))) return {};
  }
  const auto a_column = modifiers.take_layout(), b_column = modifiers.take_layout();
  if (fragment_bits(mode.a) == 0 || !mma_shape_exists(mode) || !a_column || !b_column || !modifiers.empty()) return {};
  if (mode.a == Type::f16 && mode.k == 4) {
    mode.a_column = *a_column;
    mode.b_row = !*b_column;
    return matrix_semantics(mode, 2, 2);
  }
  if (*a_column || !*b_column) return {};
  return matrix_semantics(mode, operand_registers(mode.m, mode.k, mode.a), operand_registers(mode.n, mode.k, mode.b));
}

Semantics find_wmma(Modifiers& modifiers) {
  MatrixMode mode;
  if (!modifiers.take("mma") || !modifiers.take("sync") || !modifiers.take("aligned")) return {};
  if (!modifiers.take_layout() || !modifiers.take_layout() || !modifiers.take_shape(&mode.m, &mode.n, &mode.k)) return {};
  mode.saturate = modifiers.take("satfinite");
  Type types[4] = {};
  for (Type& type : types) type = modifiers.take_type();
  // Of float16 only the accumulators' types are named.
  const bool short_form = types[2] == Type::none;
  mode.d = types[0];
  mode.a = short_form ? Type::f16 : types[1];
  mode.b = short_form ? Type::f16 : types[2];
  mode.c = short_form ? types[1] : types[3];
  if (!wmma_shape_exists(mode.a, {mode.m, mode.n, mode.k}) || !modifiers.empty()) return {};
  return matrix_semantics(mode, wmma_operand_registers(mode.m, mode.k, mode.a), wmma_operand_registers(mode.n, mode.k, mode.b));
}

Semantics find_transpose(Modifiers& modifiers) {
  const bool known = modifiers.take("sync") && modifiers.take("aligned") && modifiers.take("m8n8") && modifiers.take("trans") &&
                     modifiers.take("b16") && modifiers.empty();
  Semantics found;
  if (!known) return found;
  found.fragment = KW_HOT(transpose_fragment)();
  found.dst = found.src[0] = Type::b32;
  found.pipe = Pipe::move;
  return found;
}

using Place = void (*)(int lane, int element, int* row, int* column);

template <int M, int K, int E>
void place_a(int lane, int element, int* row, int* column) {
  constexpr BlockOrder kRows{M / 8};
  const int block = element / E % (M * K / (32 * E));
  *row = kRows.row_of(block) + lane / 4;
  *column = kRows.along_of(block, 4 * E) + lane % 4 * E + element % E;
}
template <int N, int K, int E>
void place_b(int lane, int element, int* row, int* column) {
  constexpr int kAlong = K / (4 * E);
  const int block = element / E % (N * K / (32 * E));
  *row = block % kAlong * 4 * E + lane % 4 * E + element % E;
  *column = block / kAlong * 8 + lane / 4;
}
template <int M>
void place_c(int lane, int element, int* row, int* column) {
  constexpr BlockOrder kRows{M / 8};
  *row = kRows.row_of(element / 2) + lane / 4;
  *column = kRows.along_of(element / 2, 8) + lane % 4 * 2 + element % 2;
}

struct Placement {
  Extent extent;
  int elements;  // to a register
  Place a, b, c;
};
template <int M, int N, int K, int E>
constexpr Placement kPlacement{{M, N, K}, E, place_a<M, K, E>, place_b<N, K, E>, place_c<M>};
constexpr Placement kPlacements[] = {kPlacement<16, 16, 16, 2>, kPlacement<32, 8, 16, 2>, kPlacement<8, 32, 16, 2>,
                                     kPlacement<16, 16, 16, 4>, kPlacement<32, 8, 16, 4>, kPlacement<8, 32, 16, 4>,
                                     kPlacement<16, 16, 8, 1>,  kPlacement<8, 8, 4, 1>};

}  // namespace

Semantics find_matrix(std::string_view opcode, Modifiers modifiers) {
  if (opcode == "mma") return find_mma(modifiers);
  if (opcode == "wmma") return find_wmma(modifiers);
  return opcode == "movmatrix" ? find_transpose(modifiers) : Semantics{};
}

FragmentMap find_fragment_map(std::string_view opcode, std::span<const std::string_view> names) {
  Modifiers modifiers(names);
  FragmentMap map;
  Extent extent{};
  const bool load = modifiers.take("load"), a = load && modifiers.take("a"), b = load && !a && modifiers.take("b");
  const bool accumulators = !a && !b && modifiers.take(load ? "c" : "d");
  if (opcode != "wmma" || (!load && !modifiers.take("store")) || (!a && !b && !accumulators)) return map;
  if (!modifiers.take("sync") || !modifiers.take("aligned") || !modifiers.take_shape(&extent.m, &extent.n, &extent.k)) return map;
  const auto column = modifiers.take_layout();
  const Type type = modifiers.take_type();
  for (const std::string_view space : {"global", "shared", "shared::cta"}) modifiers.take(space);
  if (!column || !modifiers.empty()) return map;
  const int elements = accumulators ? (type == Type::f16 ? 2 : 1) : fragment_bits(type) == 0 ? 0 : elements_per_register(type);
  const bool operand_fits = wmma_shape_exists(type, extent);
  const bool sum_fits = type == Type::f64 ? extent == Extent{8, 8, 4} : type == Type::f16 || type == Type::f32 || type == Type::s32;
  if (accumulators ? !sum_fits : !operand_fits) return map;
  for (const Placement& placement : kPlacements) {
    if (!(placement.extent == extent) || (!accumulators && placement.elements != elements)) continue;
    map.place = a ? placement.a : b ? placement.b : placement.c;
    map.registers = accumulators ? accumulator_registers(extent.m, extent.n, type)
                                 : wmma_operand_registers(a ? extent.m : extent.n, extent.k, type);
    map.elements_per_register = elements;
    map.element = type == Type::tf32 ? Type::f32 : type;
    map.column_major = *column;
    break;
  }
  return map;
}

}  // namespace kw::vgpu
