// Names of comparisons, selections and conversions.
#include "vgpu/sem_modifiers.h"

namespace kw::vgpu {
namespace {

constexpr std::pair<std::string_view, Compare> kCompareNames[] = {
    {"eq", Compare::eq},   {"ne", Compare::ne},   {"lt", Compare::lt},   {"le", Compare::le},   {"gt", Compare::gt},
    {"ge", Compare::ge},   {"lo", Compare::lt},   {"ls", Compare::le},   {"hi", Compare::gt},   {"hs", Compare::ge},
    {"equ", Compare::equ}, {"neu", Compare::neu}, {"ltu", Compare::ltu}, {"leu", Compare::leu}, {"gtu", Compare::gtu},
    {"geu", Compare::geu}, {"num", Compare::num}, {"nan", Compare::nan}};
constexpr std::pair<std::string_view, Combine> kCombineNames[] = {
    {"and", Combine::bit_and}, {"or", Combine::bit_or}, {"xor", Combine::bit_xor}};
constexpr std::pair<std::string_view, Property> kPropertyNames[] = {
    {"finite", Property::finite},         {"infinite", Property::infinite}, {"number", Property::number},
    {"notanumber", Property::notanumber}, {"normal", Property::normal},     {"subnormal", Property::subnormal}};

Pipe comparison_pipe(Type type) {
  switch (type) {
    case Type::f64:
      return Pipe::fp64;
    case Type::f32:
      return Pipe::fp32;
    case Type::f16:
    case Type::bf16:
    case Type::f16x2:
    case Type::bf16x2:
      return Pipe::fp16;
    default:
      return Pipe::integer;
  }
}

Semantics find_comparison(std::string_view opcode, Modifiers& modifiers) {
  const auto compare = modifiers.take_one_of(kCompareNames);
  const auto combine = modifiers.take_one_of(kCombineNames);
  const bool ftz = modifiers.take("ftz");
  const Type to = opcode == "setp" ? Type::pred : modifiers.take_type(), from = modifiers.take_type();
  if (!compare || !modifiers.empty()) return {};
  const bool ordered_only = *compare <= Compare::ge, single = from == Type::f32 || comparison_pipe(from) == Pipe::fp16;
  if ((!is_float_type(from) && !ordered_only) || (ftz && !single)) return {};
  const LaneFn lane = opcode == "setp" ? KW_HOT(setp_lane)(from) : KW_HOT(set_lane)(to, from);
  Semantics found = lane_semantics(lane, to, {from, from, combine ? Type::pred : Type::none}, comparison_pipe(from));
  found.immediate = compare_code(*compare, combine.value_or(Combine::none), ftz);
  return found;
}

bool is_integer_type(Type type) {
  switch (type) {
    case Type::u8:
    case Type::s8:
    case Type::u16:
    case Type::s16:
    case Type::u32:
    case Type::s32:
    case Type::u64:
    case Type::s64:
      return true;
    default:
      return false;
  }
}
bool is_scalar_float(Type type) { return type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64; }
bool is_byte_pair(Type type) { return type == Type::e4m3x2 || type == Type::e5m2x2; }
bool is_half_pair(Type type) { return type == Type::f16x2 || type == Type::bf16x2; }
bool to_integral(Round round) { return round == Round::rni || round == Round::rzi || round == Round::rmi || round == Round::rpi; }

Semantics find_pack(Modifiers& modifiers) {
  const bool sat = modifiers.take("sat");
  const Type to = modifiers.take_type(), from = modifiers.take_type(), rest = modifiers.take_type();
  const bool halves = to == Type::u16 || to == Type::s16;
  if (!sat || from != Type::s32 || rest != (halves ? Type::none : Type::b32) || !modifiers.empty()) return {};
  return lane_semantics(KW_HOT(convert_pack_lane)(to), Type::b32, {from, from, halves ? Type::none : Type::b32}, Pipe::conversion);
}

}  // namespace

Semantics find_compare(std::string_view opcode, Modifiers modifiers) {
  if (opcode == "setp" || opcode == "set") return find_comparison(opcode, modifiers);
  if (opcode == "testp") {
    const auto property = modifiers.take_one_of(kPropertyNames);
    const Type type = modifiers.take_type();
    if (!property || !modifiers.empty()) return {};
    return lane_semantics(KW_HOT(testp_lane)(*property, type), Type::pred, {type}, comparison_pipe(type));
  }
  const bool ftz = modifiers.take("ftz");
  const Type type = modifiers.take_type(), condition = modifiers.take_type();
  if (!modifiers.empty()) return {};
  if (opcode == "slct")
    return lane_semantics(KW_HOT(slct_lane)(type, condition, ftz), type, {type, type, condition}, Pipe::integer);
  if (ftz || condition != Type::none) return {};
  if (opcode == "selp") return lane_semantics(KW_HOT(selp_lane)(type), type, {type, type, Type::pred}, Pipe::integer);
  if (opcode == "copysign") return lane_semantics(KW_HOT(copysign_lane)(type), type, {type, type}, comparison_pipe(type));
  return {};
}

Semantics find_convert(std::string_view /*opcode*/, Modifiers modifiers) {
  if (modifiers.take("pack")) return find_pack(modifiers);
  ConvertMode mode;
  mode.round = modifiers.take_round();
  mode.ftz = modifiers.take("ftz");
  mode.sat = modifiers.take("sat");
  mode.relu = modifiers.take("relu");
  mode.satfinite = modifiers.take("satfinite");
  mode.to = modifiers.take_type();
  mode.from = modifiers.take_type();
  if (!modifiers.empty()) return {};
  const bool pair = is_byte_pair(mode.to) || is_half_pair(mode.to), whole = is_integer_type(mode.to);
  const bool scalar = is_integer_type(mode.from) || is_scalar_float(mode.from);
  if (pair) {
    const bool known = mode.from == Type::f32 || (is_byte_pair(mode.to) ? is_half_pair(mode.from) : is_byte_pair(mode.from));
    if (!known || mode.sat || mode.ftz || (mode.round != Round::rn && mode.round != Round::rz)) return {};
    if (is_byte_pair(mode.to) && (!mode.satfinite || mode.round != Round::rn)) return {};
  } else if (mode.to == Type::tf32) {
    if (mode.from != Type::f32 || mode.sat || (mode.round != Round::rna && mode.round != Round::rn && mode.round != Round::rz))
      return {};
  } else {
    if (!scalar || !(whole || is_scalar_float(mode.to))) return {};
    // Between integers there is nothing to round; to a float there has to be a direction.
    const bool unfit = is_integer_type(mode.from) ? mode.relu || mode.satfinite || mode.ftz || to_integral(mode.round) ||
                                                        whole == (mode.round != Round::none)
                                                  : whole && !to_integral(mode.round);
    if (unfit) return {};
  }
  Semantics found =
      lane_semantics(KW_HOT(convert_lane)(mode), mode.to == Type::tf32 ? Type::b32 : mode.to, {mode.from}, Pipe::conversion);
  if (pair && mode.from == Type::f32) found.src[1] = Type::f32;
  found.immediate = mode.code();
  return found;
}

}  // namespace kw::vgpu
