// Elements of float32 and float64: rounding in every direction, flushing of subnormals, saturation and the rules about NaNs. Values
// in, values out. Approximations stand in sem_special_hot.cpp.
#pragma once

#include <cmath>

#include "vgpu/sem_exact.h"

namespace kw::vgpu::KW_ISA {

KW_ELEMENT float canonical(float value) { return value != value ? bits_as<float>(0x7fffffffU) : value; }
KW_ELEMENT double canonical(double value) { return value; }  // PTX leaves the payload of a float64 NaN open

KW_ELEMENT float flushed(float value) {
  const auto bits = bits_as<std::uint32_t>(value);
  return bits_as<float>((bits & 0x7f800000U) == 0 ? bits & 0x80000000U : bits);
}
KW_ELEMENT double flushed(double value) {
  const auto bits = bits_as<std::uint64_t>(value);
  return bits_as<double>((bits & 0x7ff0000000000000ULL) == 0 ? bits & 0x8000000000000000ULL : bits);
}
template <bool Ftz, typename T>
KW_ELEMENT T flush_if(T value) {
  if constexpr (Ftz && std::is_floating_point_v<T>)
    return flushed(value);
  else
    return value;
}
// To [0, 1]; NaN becomes +0.
template <typename T>
KW_ELEMENT T saturated(T value) {
  const T low = value > T(0) ? value : T(0);
  return low < T(1) ? low : T(1);
}
template <bool Ftz, bool Sat, typename T>
KW_ELEMENT T finished(T value) {
  value = flush_if<Ftz>(value);
  return Sat ? saturated(value) : canonical(value);
}

// value + error as a double whose last bit is one where something lies below it: rounding it again to 24 bits is then as good as
// rounding once.
KW_ELEMENT double to_odd(double value, double error) {
  const auto bits = bits_as<std::uint64_t>(value);
  const bool inexact = error < 0 || error > 0;
  const bool away = (error > 0) == (value > 0);
  const std::uint64_t other = away ? bits + 1 : bits - 1;
  return bits_as<double>(inexact && (bits & 1) == 0 ? other : bits);
}
// a + b = sum + error, exactly.
KW_ELEMENT double sum_to_odd(double a, double b) {
  const double sum = a + b, b_part = sum - a, a_part = sum - b_part;
  return to_odd(sum, (a - a_part) + (b - b_part));
}
template <Round R>
KW_ELEMENT float narrowed(double value) {
  const auto near = static_cast<float>(value);
  if constexpr (R == Round::rn) return near;
  const auto back = static_cast<double>(near);
  const auto bits = bits_as<std::uint32_t>(near);
  const bool above = back > value, below = back < value, negative = (bits >> 31) != 0;
  std::uint32_t moved = bits;
  if constexpr (R == Round::rz) moved = (negative ? below : above) ? bits - 1 : bits;
  if constexpr (R == Round::rm) moved = above ? (negative ? bits + 1 : bits - 1) : bits;
  if constexpr (R == Round::rp) moved = below ? (negative ? bits - 1 : bits + 1) : bits;
  return bits_as<float>(moved);
}
// Zero that is a sum of zeros or of opposites is negative when rounding down, unless both are +0.
template <Round R>
KW_ELEMENT float signed_zero_of_sum(float rounded, double exact, double a, double b) {
  if constexpr (R != Round::rm) return rounded;
  const bool both_plus_zero = bits_as<std::uint64_t>(a) == 0 && bits_as<std::uint64_t>(b) == 0;
  return exact == 0 && !both_plus_zero ? -0.0F : rounded;
}

template <Round R>
KW_ELEMENT float sum(float a, float b) {
  if constexpr (R == Round::rn) return a + b;
  const double exact = sum_to_odd(a, b);
  return signed_zero_of_sum<R>(narrowed<R>(exact), exact, a, b);
}
template <Round R>
KW_ELEMENT float product(float a, float b) {
  if constexpr (R == Round::rn) return a * b;
  return narrowed<R>(static_cast<double>(a) * static_cast<double>(b));
}
template <Round R>
KW_ELEMENT float fused(float a, float b, float c) {
  if constexpr (R == Round::rn) return __builtin_fmaf(a, b, c);
  const double exact_product = static_cast<double>(a) * static_cast<double>(b);
  const double exact = sum_to_odd(exact_product, c);
  return signed_zero_of_sum<R>(narrowed<R>(exact), exact, exact_product, c);
}
template <Round R>
KW_ELEMENT float quotient(float a, float b) {
  if constexpr (R == Round::rn) return a / b;
  const double x = a, y = b, near = x / y;
  // The remainder has the sign of what is missing, times the sign of the divisor.
  const double remainder = __builtin_fma(-near, y, x);
  return narrowed<R>(to_odd(near, y < 0 ? -remainder : remainder));
}
template <Round R>
KW_ELEMENT float square_root(float a) {
  if constexpr (R == Round::rn) return __builtin_sqrtf(a);
  const double x = a, near = __builtin_sqrt(x);
  return narrowed<R>(to_odd(near, __builtin_fma(-near, near, x)));
}

// float64 in other directions than to the nearest goes through exact integers.
KW_ELEMENT bool all_finite(double a, double b = 0, double c = 0) { return (a - a) + (b - b) + (c - c) == 0; }
template <Round R>
inline double exact_sum_of(Exact a, Exact b) {
  const Exact total = exact_sum(a, b);
  if (total.significand != 0) return bits_as<double>(encode(total, kF64, R));
  const bool negative =
      R == Round::rm ? a.negative || b.negative || a.significand != 0 : a.negative && b.negative && a.significand == 0;
  return negative ? -0.0 : 0.0;
}
template <Round R>
KW_ELEMENT double sum(double a, double b) {
  if constexpr (R == Round::rn) return a + b;
  return all_finite(a, b) ? exact_sum_of<R>(exact_of(a), exact_of(b)) : a + b;
}
template <Round R>
KW_ELEMENT double product(double a, double b) {
  if constexpr (R == Round::rn) return a * b;
  return all_finite(a, b) ? bits_as<double>(encode(exact_product(exact_of(a), exact_of(b)), kF64, R)) : a * b;
}
template <Round R>
KW_ELEMENT double fused(double a, double b, double c) {
  if constexpr (R == Round::rn) return __builtin_fma(a, b, c);
  return all_finite(a, b, c) ? exact_sum_of<R>(exact_product(exact_of(a), exact_of(b)), exact_of(c)) : __builtin_fma(a, b, c);
}
template <Round R>
KW_ELEMENT double quotient(double a, double b) {
  if constexpr (R == Round::rn) return a / b;
  return all_finite(a, b) && b != 0 ? bits_as<double>(encode(exact_quotient(exact_of(a), exact_of(b)), kF64, R)) : a / b;
}
template <Round R>
KW_ELEMENT double square_root(double a) {
  if constexpr (R == Round::rn) return __builtin_sqrt(a);
  return all_finite(a) && a > 0 ? bits_as<double>(encode(exact_square_root(exact_of(a)), kF64, R)) : __builtin_sqrt(a);
}

// -0 is less than +0. A NaN gives way to a number unless Nan says that it wins.
template <bool Nan, bool Max, typename T>
KW_ELEMENT T extremum(T a, T b) {
  using Bits = Word<T>;
  const Bits x = bits_as<Bits>(a), y = bits_as<Bits>(b);
  const T same = bits_as<T>(Max ? static_cast<Bits>(x & y) : static_cast<Bits>(x | y));
  const bool first = Max ? a > b : a < b;
  T result = a == b ? same : first ? a : b;
  if constexpr (Nan) {
    result = a != a ? a : result;
    result = b != b ? b : result;
  } else {
    result = a != a ? b : result;
    result = b != b ? a : result;
  }
  return canonical(result);
}
template <typename T>
KW_ELEMENT T magnitude(T value) {
  return bits_as<T>(static_cast<Word<T>>(bits_as<Word<T>>(value) & (~Word<T>{0} >> 1)));
}
template <typename T>
KW_ELEMENT T with_sign_of_both(T value, T a, T b) {
  const Word<T> sign = (bits_as<Word<T>>(a) ^ bits_as<Word<T>>(b)) & ~(~Word<T>{0} >> 1);
  return value != value ? value : bits_as<T>(static_cast<Word<T>>(bits_as<Word<T>>(magnitude(value)) | sign));
}

}  // namespace kw::vgpu::KW_ISA
