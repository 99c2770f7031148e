// Names of integer arithmetic, logic and bit instructions.
#include "vgpu/sem_modifiers.h"

namespace kw::vgpu {
namespace {

struct IntegerName {
  std::string_view opcode, modifier;  // modifier: what comes before the type, apart from .sat, .cc and .relu
  IntegerOp op;
  int sources;
};

constexpr IntegerName kIntegerNames[] = {
    {"add", "", IntegerOp::add, 2},          {"sub", "", IntegerOp::sub, 2},          {"mul", "lo", IntegerOp::mul_lo, 2},
    {"mul", "hi", IntegerOp::mul_hi, 2},     {"mul", "wide", IntegerOp::mul_wide, 2}, {"mad", "lo", IntegerOp::mad_lo, 3},
    {"mad", "hi", IntegerOp::mad_hi, 3},     {"mad", "wide", IntegerOp::mad_wide, 3}, {"mul24", "lo", IntegerOp::mul24_lo, 2},
    {"mul24", "hi", IntegerOp::mul24_hi, 2}, {"mad24", "lo", IntegerOp::mad24_lo, 3}, {"mad24", "hi", IntegerOp::mad24_hi, 3},
    {"sad", "", IntegerOp::sad, 3},          {"div", "", IntegerOp::div, 2},          {"rem", "", IntegerOp::rem, 2},
    {"abs", "", IntegerOp::abs, 1},          {"neg", "", IntegerOp::neg, 1},          {"min", "", IntegerOp::min, 2},
    {"max", "", IntegerOp::max, 2},          {"shl", "", IntegerOp::shl, 2},          {"shr", "", IntegerOp::shr, 2},
    {"and", "", IntegerOp::bit_and, 2},      {"or", "", IntegerOp::bit_or, 2},        {"xor", "", IntegerOp::bit_xor, 2},
    {"not", "", IntegerOp::bit_not, 1},      {"cnot", "", IntegerOp::cnot, 1},        {"addc", "", IntegerOp::addc, 2},
    {"subc", "", IntegerOp::subc, 2},        {"madc", "lo", IntegerOp::madc_lo, 3},   {"madc", "hi", IntegerOp::madc_hi, 3},
};

// The variant of an operation that a modifier asks for.
struct Variant {
  IntegerOp plain, variant;
};
constexpr Variant kSaturating[] = {{IntegerOp::add, IntegerOp::add_sat},
                                   {IntegerOp::sub, IntegerOp::sub_sat},
                                   {IntegerOp::mad_hi, IntegerOp::mad_hi_sat},
                                   {IntegerOp::mad24_hi, IntegerOp::mad24_hi_sat}};
constexpr Variant kCarrying[] = {{IntegerOp::add, IntegerOp::add_cc},       {IntegerOp::addc, IntegerOp::addc_cc},
                                 {IntegerOp::sub, IntegerOp::sub_cc},       {IntegerOp::subc, IntegerOp::subc_cc},
                                 {IntegerOp::mad_lo, IntegerOp::mad_lo_cc}, {IntegerOp::madc_lo, IntegerOp::madc_lo_cc},
                                 {IntegerOp::mad_hi, IntegerOp::mad_hi_cc}, {IntegerOp::madc_hi, IntegerOp::madc_hi_cc}};
constexpr Variant kRelu[] = {{IntegerOp::min, IntegerOp::min_relu}, {IntegerOp::max, IntegerOp::max_relu}};

bool replace(std::span<const Variant> variants, IntegerOp* op) {
  const auto at = std::find_if(variants.begin(), variants.end(), [op](const Variant& row) { return row.plain == *op; });
  if (at == variants.end()) return false;
  *op = at->variant;
  return true;
}

Type wider(Type type) {
  switch (type) {
    case Type::u16:
      return Type::u32;
    case Type::s16:
      return Type::s32;
    case Type::u32:
      return Type::u64;
    case Type::s32:
      return Type::s64;
    default:
      return Type::none;
  }
}

struct BitName {
  std::string_view opcode, first, second;  // modifiers before the type
  BitOp op;
  Type dst;         // none: as the instruction's type
  Type sources[4];  // tf32 stands for the instruction's type
};
constexpr Type kOwn = Type::tf32;
constexpr BitName kBitNames[] = {
    {"popc", "", "", BitOp::popc, Type::u32, {kOwn}},
    {"clz", "", "", BitOp::clz, Type::u32, {kOwn}},
    {"bfind", "shiftamt", "", BitOp::bfind_shift, Type::u32, {kOwn}},
    {"bfind", "", "", BitOp::bfind, Type::u32, {kOwn}},
    {"fns", "", "", BitOp::fns, Type::b32, {Type::b32, Type::b32, Type::s32}},
    {"brev", "", "", BitOp::brev, Type::none, {kOwn}},
    {"bfe", "", "", BitOp::bfe, Type::none, {kOwn, Type::u32, Type::u32}},
    {"bfi", "", "", BitOp::bfi, Type::none, {kOwn, kOwn, Type::u32, Type::u32}},
    {"bmsk", "clamp", "", BitOp::bmsk_clamp, Type::b32, {Type::u32, Type::u32}},
    {"bmsk", "wrap", "", BitOp::bmsk_wrap, Type::b32, {Type::u32, Type::u32}},
    {"szext", "clamp", "", BitOp::szext_clamp, Type::none, {kOwn, Type::u32}},
    {"szext", "wrap", "", BitOp::szext_wrap, Type::none, {kOwn, Type::u32}},
    {"shf", "l", "clamp", BitOp::shf_l_clamp, Type::b32, {Type::b32, Type::b32, Type::u32}},
    {"shf", "l", "wrap", BitOp::shf_l_wrap, Type::b32, {Type::b32, Type::b32, Type::u32}},
    {"shf", "r", "clamp", BitOp::shf_r_clamp, Type::b32, {Type::b32, Type::b32, Type::u32}},
    {"shf", "r", "wrap", BitOp::shf_r_wrap, Type::b32, {Type::b32, Type::b32, Type::u32}},
    {"lop3", "", "", BitOp::lop3, Type::b32, {Type::b32, Type::b32, Type::b32, Type::b32}},
    {"prmt", "f4e", "", BitOp::prmt_f4e, Type::b32, {Type::b32, Type::b32, Type::b32}},
    {"prmt", "b4e", "", BitOp::prmt_b4e, Type::b32, {Type::b32, Type::b32, Type::b32}},
    {"prmt", "rc8", "", BitOp::prmt_rc8, Type::b32, {Type::b32, Type::b32, Type::b32}},
    {"prmt", "ecl", "", BitOp::prmt_ecl, Type::b32, {Type::b32, Type::b32, Type::b32}},
    {"prmt", "ecr", "", BitOp::prmt_ecr, Type::b32, {Type::b32, Type::b32, Type::b32}},
    {"prmt", "rc16", "", BitOp::prmt_rc16, Type::b32, {Type::b32, Type::b32, Type::b32}},
    {"prmt", "", "", BitOp::prmt, Type::b32, {Type::b32, Type::b32, Type::b32}},
};

// dp4a.u32.s32: the signs of both sides, u before s.
Semantics find_dot(std::string_view opcode, Modifiers& modifiers) {
  const bool high = modifiers.take("hi");
  if (opcode == "dp2a" ? !high && !modifiers.take("lo") : high) return {};
  const Type a = modifiers.take_type(), b = modifiers.take_type();
  const auto is_word = [](Type type) { return type == Type::u32 || type == Type::s32; };
  if (!is_word(a) || !is_word(b) || !modifiers.empty()) return {};
  const int signs = (a == Type::s32 ? 2 : 0) + (b == Type::s32 ? 1 : 0);
  const BitOp first = opcode == "dp4a" ? BitOp::dp4a_uu : high ? BitOp::dp2a_hi_uu : BitOp::dp2a_lo_uu;
  const Type sum = signs == 0 ? Type::u32 : Type::s32;
  return lane_semantics(KW_HOT(bit_lane)(static_cast<BitOp>(static_cast<int>(first) + signs), Type::b32), sum, {a, b, sum},
                        Pipe::integer);
}

// vadd4.u32.u32.u32 and the like; one sign for all.
Semantics find_packed(std::string_view opcode, Modifiers& modifiers) {
  static constexpr std::pair<std::string_view, PackedOp> kNames[] = {{"vadd", PackedOp::vadd},   {"vsub", PackedOp::vsub},
                                                                     {"vavrg", PackedOp::vavrg}, {"vabsdiff", PackedOp::vabsdiff},
                                                                     {"vmin", PackedOp::vmin},   {"vmax", PackedOp::vmax}};
  const bool bytes = opcode.back() == '4';
  if (!bytes && opcode.back() != '2') return {};
  opcode.remove_suffix(1);
  const auto* at = std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& row) { return row.first == opcode; });
  if (at == std::end(kNames)) return {};
  const bool saturate = modifiers.take("sat"), accumulate = modifiers.take("add");
  const Type type = modifiers.take_type();
  if (modifiers.take_type() != type || modifiers.take_type() != type || !modifiers.empty()) return {};
  Type parts = Type::none;
  if (type == Type::u32) parts = bytes ? Type::u8x4 : Type::u16x2;
  if (type == Type::s32) parts = bytes ? Type::s8x4 : Type::s16x2;
  return lane_semantics(KW_HOT(packed_lane)(at->second, parts, saturate, accumulate), type, {type, type, type}, Pipe::integer);
}

}  // namespace

Semantics find_integer(std::string_view opcode, Modifiers modifiers) {
  const bool sat = modifiers.take("sat"), carry = modifiers.take("cc"), relu = modifiers.take("relu");
  for (const IntegerName& row : kIntegerNames) {
    if (row.opcode != opcode || (!row.modifier.empty() && !modifiers.take(row.modifier))) continue;
    const Type type = modifiers.take_type();
    IntegerOp op = row.op;
    if (!modifiers.empty() || (sat && !replace(kSaturating, &op)) || (carry && !replace(kCarrying, &op)) ||
        (relu && !replace(kRelu, &op)))
      return {};
    const LaneFn lane = KW_HOT(integer_lane)(op, type);
    const bool wide = row.modifier == "wide", shift = op == IntegerOp::shl || op == IntegerOp::shr;
    const Type result = wide ? wider(type) : type;
    if (row.sources == 1) return lane_semantics(lane, result, {type}, Pipe::integer);
    if (row.sources == 2) return lane_semantics(lane, result, {type, shift ? Type::u32 : type}, Pipe::integer);
    return lane_semantics(lane, result, {type, type, result}, Pipe::integer);
  }
  return {};
}

Semantics find_bits(std::string_view opcode, Modifiers modifiers) {
  if (opcode == "dp4a" || opcode == "dp2a") return find_dot(opcode, modifiers);
  if (opcode.starts_with('v')) return find_packed(opcode, modifiers);
  for (const BitName& row : kBitNames) {
    if (row.opcode != opcode) continue;
    if (!row.first.empty()) {
      Modifiers rest = modifiers;
      if (!rest.take(row.first) || (!row.second.empty() && !rest.take(row.second))) continue;
      modifiers = rest;
    }
    const Type type = modifiers.take_type();
    if (!modifiers.empty()) return {};
    Semantics found = lane_semantics(KW_HOT(bit_lane)(row.op, type), row.dst == Type::none ? type : row.dst, {}, Pipe::integer);
    if (found.lane == nullptr) return found;
    for (int i = 0; i < 4; ++i) found.src[i] = row.sources[i] == kOwn ? type : row.sources[i];
    return found;
  }
  return {};
}

}  // namespace kw::vgpu
