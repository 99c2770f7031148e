// Loops of cvt. Conversions that programs are full of have loops of their own; all others go through a double or a 64-bit integer,
// lane by lane.
#include "vgpu/sem_cvt.h"

namespace kw::vgpu::KW_ISA {
namespace {

// From integer to integer: taken from the source's width, cut to the destination's, extended to the lane.
template <typename To, typename From>
KW_ELEMENT Word<To> integer_cast(From value) {
  if constexpr (sizeof(To) == 8)
    return static_cast<Word<To>>(static_cast<To>(value));
  else
    return static_cast<std::uint32_t>(
        static_cast<std::conditional_t<std::is_signed_v<To>, std::int32_t, std::uint32_t>>(static_cast<To>(value)));
}
template <typename To>
LaneFn integer_cast_to(Type from) {
  switch (from) {
    case Type::u8:
      return lanes<integer_cast<To, std::uint8_t>>;
    case Type::s8:
      return lanes<integer_cast<To, std::int8_t>>;
    case Type::u16:
      return lanes<integer_cast<To, std::uint16_t>>;
    case Type::s16:
      return lanes<integer_cast<To, std::int16_t>>;
    case Type::u32:
      return lanes<integer_cast<To, std::uint32_t>>;
    case Type::s32:
      return lanes<integer_cast<To, std::int32_t>>;
    case Type::u64:
      return lanes<integer_cast<To, std::uint64_t>>;
    case Type::s64:
      return lanes<integer_cast<To, std::int64_t>>;
    default:
      return nullptr;
  }
}
LaneFn integer_cast_lane(Type to, Type from) {
  switch (to) {
    case Type::u8:
      return integer_cast_to<std::uint8_t>(from);
    case Type::s8:
      return integer_cast_to<std::int8_t>(from);
    case Type::u16:
      return integer_cast_to<std::uint16_t>(from);
    case Type::s16:
      return integer_cast_to<std::int16_t>(from);
    case Type::u32:
      return integer_cast_to<std::uint32_t>(from);
    case Type::s32:
      return integer_cast_to<std::int32_t>(from);
    case Type::u64:
      return integer_cast_to<std::uint64_t>(from);
    case Type::s64:
      return integer_cast_to<std::int64_t>(from);
    default:
      return nullptr;
  }
}

KW_ELEMENT float f32_of_s32(std::int32_t a) { return static_cast<float>(a); }
KW_ELEMENT float f32_of_u32(std::uint32_t a) { return static_cast<float>(a); }
KW_ELEMENT double f64_of_s32(std::int32_t a) { return a; }
KW_ELEMENT double f64_of_u32(std::uint32_t a) { return a; }
KW_ELEMENT double f64_of_f32(float a) { return a; }
KW_ELEMENT float f32_of_f64(double a) { return canonical(static_cast<float>(a)); }
template <Round R, bool Ftz>
KW_ELEMENT float f32_of_f32(float a) {
  a = flush_if<Ftz>(a);
  if constexpr (R == Round::rni) a = __builtin_rintf(a);
  if constexpr (R == Round::rzi) a = __builtin_truncf(a);
  if constexpr (R == Round::rmi) a = __builtin_floorf(a);
  if constexpr (R == Round::rpi) a = __builtin_ceilf(a);
  return canonical(a);
}
template <Round R>
KW_ELEMENT std::int32_t s32_of_f32(float a) {
  a = f32_of_f32<R, false>(a);
  const float low = a > -0x1p31F ? a : -0x1p31F, both = low < 0x1.fffffep30F ? low : 0x1.fffffep30F;
  const auto inside = static_cast<std::int32_t>(a != a ? 0.0F : both);
  return a >= 0x1p31F ? 0x7fffffff : inside;
}
template <Round R>
KW_ELEMENT std::uint32_t u32_of_f32(float a) {
  a = f32_of_f32<R, false>(a);
  const float low = a > 0.0F ? a : 0.0F, both = low < 0x1.fffffep31F ? low : 0x1.fffffep31F;
  // Through signed integers, which every processor converts to.
  const bool upper = both >= 0x1p31F;
  const std::uint32_t inside =
      static_cast<std::uint32_t>(static_cast<std::int32_t>(upper ? both - 0x1p31F : both)) + (upper ? 0x80000000U : 0U);
  return a >= 0x1p32F ? 0xffffffffU : inside;
}
template <bool Ftz>
KW_ELEMENT std::uint32_t tf32_of_f32(float a) {
  const auto bits = bits_as<std::uint32_t>(flush_if<Ftz>(a));
  const std::uint32_t rounded = (bits + 0x1000U) & 0xffffe000U;
  return (bits & 0x7fffffffU) > 0x7f800000U ? 0x7fffffffU : (bits & 0x7fffffffU) == 0x7f800000U ? bits : rounded;
}

template <typename F>
void halves_of_f32(void* dst, const void* a, const void*, const void*, const LaneExtra&) {
  const auto* x = words<float>(a);
  alignas(64) float wide[kHalves];
  for (int i = 0; i < kLanes; ++i) wide[2 * i] = bits_as<float>(x[i]), wide[2 * i + 1] = 0;
  F::narrow(wide, dst);
}
// d = {a, b}: the second source is the lower half.
template <typename F, bool Relu>
void halves_of_two_f32(void* dst, const void* a, const void* b, const void*, const LaneExtra&) {
  const auto *x = words<float>(a), *y = words<float>(b);
  alignas(64) float wide[kHalves];
  for (int i = 0; i < kLanes; ++i) wide[2 * i] = bits_as<float>(y[i]), wide[2 * i + 1] = bits_as<float>(x[i]);
  if (Relu)
    for (float& value : wide) value = value <= 0 ? 0.0F : value;
  F::narrow(wide, dst);
}
template <typename F>
void f32_of_halves(void* dst, const void* a, const void*, const void*, const LaneExtra&) {
  alignas(64) float wide[kHalves];
  F::widen(a, wide);
  auto* d = words<float>(dst);
  for (int i = 0; i < kLanes; ++i) d[i] = bits_as<std::uint32_t>(canonical(wide[2 * i]));
}

// Everything else.
struct AnyNumber {
  bool is_integer = false, negative = false;
  std::uint64_t magnitude = 0;
  double value = 0;
};
AnyNumber any_number(const void* lanes, int i, const ConvertMode& mode) {
  const bool wide = mode.from == Type::u64 || mode.from == Type::s64 || mode.from == Type::f64;
  const std::uint64_t bits = wide ? words<std::uint64_t>(lanes)[i] : words<std::uint32_t>(lanes)[i];
  const auto integer = [](std::int64_t value) {
    return AnyNumber{true, value < 0, value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value), 0};
  };
  switch (mode.from) {
    case Type::u8:
      return {true, false, bits & 0xff, 0};
    case Type::u16:
      return {true, false, bits & 0xffff, 0};
    case Type::u32:
    case Type::u64:
      return {true, false, bits, 0};
    case Type::s8:
      return integer(static_cast<std::int8_t>(bits));
    case Type::s16:
      return integer(static_cast<std::int16_t>(bits));
    case Type::s32:
      return integer(static_cast<std::int32_t>(bits));
    case Type::s64:
      return integer(static_cast<std::int64_t>(bits));
    case Type::f16:
      return {false, false, 0, half_to_float(static_cast<std::uint16_t>(bits))};
    case Type::bf16:
      return {false, false, 0, bf16_to_float(static_cast<std::uint16_t>(bits))};
    case Type::f64:
      return {false, false, 0, bits_as<double>(bits)};
    default:
      break;
  }
  const auto single = bits_as<float>(static_cast<std::uint32_t>(bits));
  return {false, false, 0, mode.ftz ? flushed(single) : single};
}

template <typename T>
std::uint64_t as_integer(const AnyNumber& number, const ConvertMode& mode) {
  if (!number.is_integer)
    return static_cast<std::uint64_t>(clamped_to<T>(rounded_to_integer(number.value, mode.round), mode.from == Type::f64));
  const auto exact = number.negative ? -static_cast<Wide>(number.magnitude) : static_cast<Wide>(number.magnitude);
  // NOLINTNEXTLINE(bugprone-signed-char-misuse): a number of eight bits, no character
  constexpr Wide kLowest = std::numeric_limits<T>::min(), kHighest = std::numeric_limits<T>::max();
  const Wide kept = !mode.sat ? exact : exact < kLowest ? kLowest : exact > kHighest ? kHighest : exact;
  return static_cast<std::uint64_t>(static_cast<T>(kept));
}

std::uint64_t converted(const AnyNumber& number, const ConvertMode& mode) {
  switch (mode.to) {
    case Type::u8:
      return as_integer<std::uint8_t>(number, mode);
    case Type::s8:
      return as_integer<std::int8_t>(number, mode);
    case Type::u16:
      return as_integer<std::uint16_t>(number, mode);
    case Type::s16:
      return as_integer<std::int16_t>(number, mode);
    case Type::u32:
      return as_integer<std::uint32_t>(number, mode);
    case Type::s32:
      return as_integer<std::int32_t>(number, mode);
    case Type::u64:
      return as_integer<std::uint64_t>(number, mode);
    case Type::s64:
      return as_integer<std::int64_t>(number, mode);
    default:
      break;
  }
  if (!number.is_integer) return converted_bits(rounded_to_integer(number.value, mode.round), mode.to, mode);
  if (mode.sat && (number.negative || number.magnitude <= 1))
    return converted_bits(number.negative ? 0 : static_cast<double>(number.magnitude), mode.to, mode);
  if (mode.sat) return converted_bits(1, mode.to, mode);
  return encode(exact_of_integer(number.magnitude, number.negative), format_of(mode.to),
                mode.round == Round::none ? Round::rn : mode.round);
}

void convert_any(void* dst, const void* a, const void*, const void*, const LaneExtra& extra) {
  ConvertMode mode = ConvertMode::of(extra.immediate);
  const bool wide = mode.to == Type::u64 || mode.to == Type::s64 || mode.to == Type::f64;
  std::uint64_t results[kLanes];  // the destination may be the source
  for (int i = 0; i < kLanes; ++i) results[i] = converted(any_number(a, i, mode), mode);
  for (int i = 0; i < kLanes; ++i) {
    if (wide)
      words<std::uint64_t>(dst)[i] = results[i];
    else
      words<std::uint32_t>(dst)[i] = static_cast<std::uint32_t>(results[i]);
  }
}

// Two numbers to a pair of halves or bytes; b is the lower one.
void convert_pair(void* dst, const void* a, const void* b, const void*, const LaneExtra& extra) {
  const ConvertMode mode = ConvertMode::of(extra.immediate);
  const bool small = mode.to == Type::e4m3x2 || mode.to == Type::e5m2x2;
  const auto one = [&](std::uint32_t bits) {
    const auto value = bits_as<float>(bits);
    if (small) return float_to_small(mode.relu && value <= 0 ? 0.0F : value, format_of(mode.to));
    return static_cast<std::uint32_t>(converted_bits(value, mode.to, mode));
  };
  const auto *x = words<float>(a), *y = words<float>(b);
  auto* d = words<std::uint32_t>(dst);
  for (int i = 0; i < kLanes; ++i) d[i] = one(x[i]) << (small ? 8 : 16) | one(y[i]);
}
// A pair of halves to a pair of bytes, and back.
void convert_halves_to_bytes(void* dst, const void* a, const void*, const void*, const LaneExtra& extra) {
  const ConvertMode mode = ConvertMode::of(extra.immediate);
  alignas(64) float wide[kHalves];
  mode.from == Type::bf16x2 ? BfloatFormat::widen(a, wide) : HalfFormat::widen(a, wide);
  const auto one = [&](float value) { return float_to_small(mode.relu && value <= 0 ? 0.0F : value, format_of(mode.to)); };
  for (int i = 0; i < kLanes; ++i) words<std::uint32_t>(dst)[i] = one(wide[2 * i + 1]) << 8 | one(wide[2 * i]);
}
void convert_bytes_to_halves(void* dst, const void* a, const void*, const void*, const LaneExtra& extra) {
  const ConvertMode mode = ConvertMode::of(extra.immediate);
  alignas(64) float wide[kHalves];
  const auto* x = words<std::uint32_t>(a);
  for (int i = 0; i < kHalves; ++i) {
    const float value = small_to_float(x[i / 2] >> (8 * (i & 1)) & 0xffU, format_of(mode.from));
    wide[i] = mode.relu && value <= 0 ? 0.0F : value;
  }
  HalfFormat::narrow(wide, dst);
}

template <Round R>
LaneFn common_from_f32(Type to, bool ftz) {
  if (to == Type::f32) return ftz ? lanes<f32_of_f32<R, true>> : lanes<f32_of_f32<R, false>>;
  if (ftz && (R == Round::rmi || R == Round::rpi)) return nullptr;  // a subnormal would become one
  if (to == Type::s32) return lanes<s32_of_f32<R>>;
  return to == Type::u32 ? lanes<u32_of_f32<R>> : nullptr;
}

LaneFn common_lane(const ConvertMode& mode) {
  if (mode.sat || mode.relu || mode.satfinite) return nullptr;
  const bool nearest = mode.round == Round::none || mode.round == Round::rn;
  const auto is = [&](Type to, Type from) { return mode.to == to && mode.from == from; };
  if (mode.from == Type::f32) {
    switch (mode.round) {
      case Round::none:
        if (mode.to == Type::f32) return mode.ftz ? lanes<f32_of_f32<Round::none, true>> : lanes<f32_of_f32<Round::none, false>>;
        break;
      case Round::rni:
        return common_from_f32<Round::rni>(mode.to, mode.ftz);
      case Round::rzi:
        return common_from_f32<Round::rzi>(mode.to, mode.ftz);
      case Round::rmi:
        return common_from_f32<Round::rmi>(mode.to, mode.ftz);
      case Round::rpi:
        return common_from_f32<Round::rpi>(mode.to, mode.ftz);
      default:
        break;
    }
  }
  if (is(Type::tf32, Type::f32) && mode.round == Round::rna) return mode.ftz ? lanes<tf32_of_f32<true>> : lanes<tf32_of_f32<false>>;
  if (mode.ftz || !nearest) return nullptr;
  if (is(Type::f32, Type::s32)) return lanes<f32_of_s32>;
  if (is(Type::f32, Type::u32)) return lanes<f32_of_u32>;
  if (is(Type::f64, Type::s32)) return lanes<f64_of_s32>;
  if (is(Type::f64, Type::u32)) return lanes<f64_of_u32>;
  if (is(Type::f64, Type::f32)) return lanes<f64_of_f32>;
  if (is(Type::f32, Type::f64)) return lanes<f32_of_f64>;
  if (is(Type::f16, Type::f32)) return halves_of_f32<HalfFormat>;
  if (is(Type::bf16, Type::f32)) return halves_of_f32<BfloatFormat>;
  if (is(Type::f32, Type::f16)) return f32_of_halves<HalfFormat>;
  if (is(Type::f32, Type::bf16)) return f32_of_halves<BfloatFormat>;
  return nullptr;
}

template <int Width, bool Signed>
KW_ELEMENT std::uint32_t narrow_saturated(std::int32_t value) {
  constexpr std::int32_t kLowest = Signed ? -(1 << (Width - 1)) : 0, kHighest = Signed ? (1 << (Width - 1)) - 1 : (1 << Width) - 1;
  const std::int32_t kept = value < kLowest ? kLowest : value > kHighest ? kHighest : value;
  return static_cast<std::uint32_t>(kept) & ((1U << Width) - 1U);
}
template <int Width, bool Signed>
KW_ELEMENT std::uint32_t packed_pair(std::int32_t a, std::int32_t b, std::uint32_t c) {
  const std::uint32_t pair = narrow_saturated<Width, Signed>(a) << Width | narrow_saturated<Width, Signed>(b);
  if constexpr (Width == 16)
    return pair;
  else
    return c << (2 * Width) | pair;
}
template <bool Signed>
KW_ELEMENT std::uint32_t packed_words(std::int32_t a, std::int32_t b) {
  return packed_pair<16, Signed>(a, b, 0);
}

}  // namespace

LaneFn convert_lane(ConvertMode mode) {
  const bool pair = mode.to == Type::f16x2 || mode.to == Type::bf16x2, bytes = mode.to == Type::e4m3x2 || mode.to == Type::e5m2x2;
  const bool from_bytes = mode.from == Type::e4m3x2 || mode.from == Type::e5m2x2;
  if (mode.to == Type::f16x2 && from_bytes) return convert_bytes_to_halves;
  if (bytes && (mode.from == Type::f16x2 || mode.from == Type::bf16x2)) return convert_halves_to_bytes;
  if ((pair || bytes) && mode.from != Type::f32) return nullptr;
  if (pair && !mode.satfinite && !mode.sat && mode.round == Round::rn) {
    if (mode.to == Type::f16x2) return mode.relu ? halves_of_two_f32<HalfFormat, true> : halves_of_two_f32<HalfFormat, false>;
    return mode.relu ? halves_of_two_f32<BfloatFormat, true> : halves_of_two_f32<BfloatFormat, false>;
  }
  if (pair || bytes) return convert_pair;
  if (const LaneFn common = common_lane(mode)) return common;
  if (!mode.sat && mode.round == Round::none)
    if (const LaneFn cast = integer_cast_lane(mode.to, mode.from)) return cast;
  return convert_any;
}

LaneFn convert_pack_lane(Type to) {
  switch (to) {
    case Type::u16:
      return lanes<packed_words<false>>;
    case Type::s16:
      return lanes<packed_words<true>>;
    case Type::u8:
      return lanes<packed_pair<8, false>>;
    case Type::s8:
      return lanes<packed_pair<8, true>>;
    case Type::u4:
      return lanes<packed_pair<4, false>>;
    case Type::s4:
      return lanes<packed_pair<4, true>>;
    default:
      return nullptr;
  }
}

}  // namespace kw::vgpu::KW_ISA
