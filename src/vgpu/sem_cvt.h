// Elements of conversion: rounding to integers, clamping, and the small formats. Values in, values out.
#pragma once

#include <limits>

#include "vgpu/sem_half.h"

namespace kw::vgpu::KW_ISA {

KW_ELEMENT double rounded_to_integer(double value, Round round) {
  switch (round) {
    case Round::rni:
      return __builtin_rint(value);
    case Round::rzi:
      return __builtin_trunc(value);
    case Round::rmi:
      return __builtin_floor(value);
    case Round::rpi:
      return __builtin_ceil(value);
    default:
      return value;
  }
}

// An integral value, clamped. What a NaN becomes depends on the width of both types.
template <typename T>
KW_ELEMENT T clamped_to(double value, bool from_f64) {
  constexpr T kLowest = std::numeric_limits<T>::min(), kHighest = std::numeric_limits<T>::max();
  constexpr double kAbove = static_cast<double>((kHighest >> 1) + 1) * 2;  // one more than the highest
  if (value != value) return sizeof(T) == 8 || from_f64 ? static_cast<T>(std::uint64_t{1} << (sizeof(T) * 8 - 1)) : T{0};
  if (value >= kAbove) return kHighest;
  if (value <= static_cast<double>(kLowest)) return kLowest;
  return static_cast<T>(value);
}

// A number of 8 bits as float32, exactly.
KW_ELEMENT float small_to_float(std::uint32_t byte, Format format) {
  const std::uint32_t sign = (byte & 0x80U) << 24, rest = byte & 0x7fU;
  const bool e5m2 = format.exponent_bits == 5;
  if (e5m2 ? rest > 0x7cU : rest == 0x7fU) return bits_as<float>(0x7fffffffU);
  if (e5m2 && rest == 0x7cU) return bits_as<float>(sign | 0x7f800000U);
  const float scale = e5m2 ? 0x1p112F : 0x1p120F;
  return bits_as<float>(bits_as<std::uint32_t>(bits_as<float>(rest << (23 - format.mantissa_bits())) * scale) | sign);
}
// To 8 bits, to the nearest, what is too large to the largest; every NaN becomes 0x7f.
inline std::uint32_t float_to_small(float value, Format format) {
  if (value != value) return 0x7f;
  const std::uint32_t largest = format.exponent_bits == 5 ? 0x7b : 0x7e;
  const std::uint32_t sign = bits_as<std::uint32_t>(value) >> 24 & 0x80U;
  if (magnitude(value) > 0x1p20F) return sign | largest;
  // e4m3 has numbers where others have infinity: encoded with one more bit of exponent and moved, because the bias differs by
  // eight.
  std::uint64_t bits = 0;
  if (format.exponent_bits == 5)
    bits = encode(exact_of(magnitude(value)), kE5m2, Round::rn);
  else
    bits = encode(exact_of(static_cast<double>(magnitude(value)) * 0x1p-8), Format{4, 5}, Round::rn);
  return sign | (bits > largest ? largest : static_cast<std::uint32_t>(bits));
}

KW_ELEMENT const Format& format_of(Type type) {
  static constexpr Format kNone{};
  switch (type) {
    case Type::f16:
    case Type::f16x2:
      return kF16;
    case Type::bf16:
    case Type::bf16x2:
      return kBf16;
    case Type::f32:
      return kF32;
    case Type::f64:
      return kF64;
    case Type::tf32:
      return kTf32;
    case Type::e4m3x2:
      return kE4m3;
    case Type::e5m2x2:
      return kE5m2;
    default:
      return kNone;
  }
}

// The bits of a value in float16, bfloat16, tf32, float32 or float64, with everything that cvt can ask for.
inline std::uint64_t converted_bits(double value, Type to, const ConvertMode& mode) {
  const Format& format = format_of(to);
  const int shift = to == Type::tf32 ? 13 : 0;  // tf32 sits in the upper bits of a float32
  const int width = format.mantissa_bits() + format.exponent_bits;
  if (mode.sat) value = saturated(value);
  if (mode.relu && !(value > 0) && value == value) value = 0;
  if (value != value) {
    if (to == Type::f64) return 0x7fffffffffffffffULL;
    return to == Type::tf32 || to == Type::f32 ? 0x7fffffffU : 0x7fffU;
  }
  const std::uint64_t infinity = ((1ULL << format.exponent_bits) - 1) << format.mantissa_bits();
  const std::uint64_t sign = static_cast<std::uint64_t>(bits_as<std::uint64_t>(value) >> 63) << width;
  std::uint64_t bits = 0;
  if (value - value != 0)
    bits = sign | infinity;
  else
    bits = encode(exact_of(value), format, mode.round == Round::none ? Round::rn : mode.round);
  if (mode.satfinite && (bits & ~sign) == infinity) bits = sign | (infinity - 1);
  if (mode.ftz && to == Type::f32 && (bits & 0x7f800000U) == 0) bits = sign;
  return bits << shift;
}

}  // namespace kw::vgpu::KW_ISA
