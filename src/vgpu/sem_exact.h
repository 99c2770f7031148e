// Arithmetic on exact values, rounded once into any binary format in any direction: what the processor's own instructions don't
// offer. Slow; for rare roundings and small formats. Infinities and NaNs are dealt with before.
#pragma once

#include <utility>

#include "vgpu/sem_hot.h"
#include "vgpu/sem_lane.h"

namespace kw::vgpu::KW_ISA {

// significand * 2^exponent. The lowest bit also stands for everything below it that isn't zero (sticky).
struct Exact {
  bool negative = false;
  int exponent = 0;
  UWide significand = 0;
};

// A format with `precision` significant bits, the hidden one included.
struct Format {
  int precision, exponent_bits;
  [[nodiscard]] constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] constexpr int mantissa_bits() const { return precision - 1; }
};
inline constexpr Format kF64{53, 11}, kF32{24, 8}, kF16{11, 5}, kBf16{8, 8}, kTf32{11, 8}, kE5m2{3, 5}, kE4m3{4, 4};

inline int top_bit(UWide value) {
  const auto high = static_cast<std::uint64_t>(value >> 64), low = static_cast<std::uint64_t>(value);
  return high != 0 ? 127 - __builtin_clzll(high) : low != 0 ? 63 - __builtin_clzll(low) : -1;
}

inline UWide shift_right_sticky(UWide value, int by) {
  if (by <= 0) return value;
  if (by >= 128) return value != 0 ? 1 : 0;
  const UWide kept = value >> by;
  return kept | static_cast<UWide>((kept << by) != value);
}

// Puts the highest bit at position 125, so that sums don't overflow and what is shifted out below is only ever sticky.
inline Exact normalised(Exact value) {
  const int top = top_bit(value.significand);
  if (top < 0) return value;
  value.significand = top <= 125 ? value.significand << (125 - top) : shift_right_sticky(value.significand, top - 125);
  value.exponent += top - 125;
  return value;
}

inline Exact exact_of(double value) {
  const auto bits = bits_as<std::uint64_t>(value);
  const int field = static_cast<int>(bits >> 52) & 0x7ff;
  const std::uint64_t mantissa = bits & ((1ULL << 52) - 1);
  return {(bits >> 63) != 0, field == 0 ? -1074 : field - 1075, field == 0 ? mantissa : mantissa | (1ULL << 52)};
}
inline Exact exact_of_integer(std::uint64_t magnitude, bool negative) { return {negative, 0, magnitude}; }

// The sign of an exact zero is the caller's business: zero_sign_of_sum.
inline Exact exact_sum(Exact a, Exact b) {
  if (a.significand == 0) return b;
  if (b.significand == 0) return a;
  a = normalised(a);
  b = normalised(b);
  if (a.exponent < b.exponent) std::swap(a, b);
  b.significand = shift_right_sticky(b.significand, a.exponent - b.exponent);
  if (a.negative == b.negative) return {a.negative, a.exponent, a.significand + b.significand};
  if (a.significand >= b.significand) return {a.negative, a.exponent, a.significand - b.significand};
  return {b.negative, a.exponent, b.significand - a.significand};
}
// Exact while both significands have 64 bits at most.
inline Exact exact_product(Exact a, Exact b) {
  return {a.negative != b.negative, a.exponent + b.exponent, a.significand * b.significand};
}
// Of values with 53 bits at most; b isn't zero.
inline Exact exact_quotient(Exact a, Exact b) {
  if (a.significand == 0) return {a.negative != b.negative, 0, 0};
  const int up = 125 - top_bit(a.significand);
  const UWide numerator = a.significand << up, quotient = numerator / b.significand;
  const UWide sticky = quotient * b.significand != numerator ? 1 : 0;
  return {a.negative != b.negative, a.exponent - b.exponent - up, quotient | sticky};
}
inline Exact exact_square_root(Exact a) {
  if (a.significand == 0) return a;
  int up = 125 - top_bit(a.significand);
  if (((a.exponent - up) & 1) != 0) --up;
  const UWide value = a.significand << up;
  UWide root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const UWide trial = root | (static_cast<UWide>(1) << bit);
    if (trial * trial <= value) root = trial;
  }
  const UWide sticky = root * root != value ? 1 : 0;
  return {a.negative, (a.exponent - up) / 2 - 1, (root << 1) | sticky};
}

// The bits of the value in the format. What is too large becomes infinity or the largest finite value, as the direction says;
// formats without infinities (e4m3) are cut off by the caller.
inline std::uint64_t encode(Exact value, const Format format, Round round) {
  const std::uint64_t sign = static_cast<std::uint64_t>(value.negative) << (format.mantissa_bits() + format.exponent_bits);
  if (value.significand == 0) return sign;
  if (const int excess = top_bit(value.significand) - 110;
      excess > 0) {  // so that what lies far below half of the last bit is seen by `drop`
    value.significand = shift_right_sticky(value.significand, excess);
    value.exponent += excess;
  }
  const int lowest = 1 - format.bias() - format.mantissa_bits();  // exponent of the smallest subnormal
  const int top = top_bit(value.significand);
  int exponent = value.exponent + top - format.mantissa_bits();  // of the last bit that is kept
  if (exponent < lowest) exponent = lowest;
  const int drop = exponent - value.exponent;
  UWide kept = 0, rest = 0, half = 1;  // what is dropped, and half of the last bit, in the same unit
  if (drop <= 0) {
    kept = value.significand << -drop;
  } else if (drop > 111) {
    rest = 1, half = 2;
  } else {
    kept = value.significand >> drop;
    rest = value.significand - (kept << drop);
    half = static_cast<UWide>(1) << (drop - 1);
  }
  bool up = false;
  switch (round) {
    case Round::rn:
      up = rest > half || (rest == half && (kept & 1) != 0);
      break;
    case Round::rna:
      up = rest >= half;
      break;
    case Round::rm:
      up = value.negative && rest != 0;
      break;
    case Round::rp:
      up = !value.negative && rest != 0;
      break;
    default:
      break;
  }
  if (up) ++kept;
  // The hidden bit adds one to the exponent field, a carry out of the mantissa another.
  const std::uint64_t infinity = ((1ULL << format.exponent_bits) - 1) << format.mantissa_bits();
  const auto field = static_cast<std::uint64_t>(exponent - lowest);
  std::uint64_t bits = infinity;
  if (field < (1ULL << format.exponent_bits)) bits = (field << format.mantissa_bits()) + static_cast<std::uint64_t>(kept);
  if (bits >= infinity) {
    const bool to_infinity = round == Round::rn || round == Round::rna || (round == Round::rm && value.negative) ||
                             (round == Round::rp && !value.negative);
    bits = to_infinity ? infinity : infinity - 1;
  }
  return sign | bits;
}

}  // namespace kw::vgpu::KW_ISA
