// What PTX says that an instruction gives, by means of the host alone: fesetround, long double, __int128. Nothing of src/vgpu.
#pragma once

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace kw::vgpu::host {

using u64 = std::uint64_t;
__extension__ using Wide = __int128;

// Formats as precision (hidden bit included) and bits of exponent.
struct Layout {
  int precision, exponent_bits;
};
inline constexpr Layout kHalf{11, 5}, kBfloat{8, 8}, kTensor{11, 8}, kSingle{24, 8}, kDouble{53, 11};

inline long double decode(u64 bits, Layout layout) {
  const int mantissa_bits = layout.precision - 1, bias = (1 << (layout.exponent_bits - 1)) - 1;
  const u64 mantissa = bits & ((u64{1} << mantissa_bits) - 1);
  const int field = static_cast<int>(bits >> mantissa_bits) & ((1 << layout.exponent_bits) - 1);
  const bool negative = (bits >> (mantissa_bits + layout.exponent_bits) & 1) != 0;
  long double value = 0;
  if (field == (1 << layout.exponent_bits) - 1)
    value = mantissa == 0 ? std::numeric_limits<long double>::infinity() : std::numeric_limits<long double>::quiet_NaN();
  else
    value = std::ldexp(static_cast<long double>(field == 0 ? mantissa : mantissa + (u64{1} << mantissa_bits)),
                       (field == 0 ? 1 : field) - bias - mantissa_bits);
  return negative ? -value : value;
}

// Of a value that the format holds exactly; no NaNs.
inline u64 encode_exact(long double value, Layout layout) {
  const int mantissa_bits = layout.precision - 1, bias = (1 << (layout.exponent_bits - 1)) - 1;
  const u64 sign = static_cast<u64>(std::signbit(value)) << (mantissa_bits + layout.exponent_bits);
  const long double size = std::fabs(value);
  if (std::isinf(size)) return sign | ((u64{1} << layout.exponent_bits) - 1) << mantissa_bits;
  if (size == 0) return sign;
  const int exponent = std::max(std::ilogb(size), 1 - bias);
  const auto mantissa = static_cast<u64>(std::ldexp(size, mantissa_bits - exponent));
  const u64 hidden = u64{1} << mantissa_bits;
  return sign | (mantissa < hidden ? mantissa : (static_cast<u64>(exponent + bias) << mantissa_bits) + (mantissa - hidden));
}

class Direction {
 public:
  explicit Direction(int direction) { std::fesetround(direction); }
  ~Direction() { std::fesetround(FE_TONEAREST); }
  Direction(const Direction&) = delete;
  Direction& operator=(const Direction&) = delete;
};

inline constexpr int kTiesAway = -1;

// The nearest value of the format in the direction; values stay in a long double.
[[gnu::noinline]] inline long double round_to(long double value, Layout layout, int direction) {
  if (std::isnan(value) || std::isinf(value) || value == 0) return value;
  const int bias = (1 << (layout.exponent_bits - 1)) - 1;
  const int exponent = std::max(std::ilogb(value), 1 - bias) - (layout.precision - 1);
  volatile long double scaled = std::ldexp(value, -exponent), rounded = 0;
  if (direction == kTiesAway) {
    rounded = std::round(scaled);
  } else {
    const Direction scope(direction);
    rounded = std::rint(scaled);
  }
  long double result = std::copysign(std::ldexp(static_cast<long double>(rounded), exponent), value);
  const long double largest = std::ldexp(2 - std::ldexp(1.0L, 1 - layout.precision), bias);
  if (std::fabs(result) > largest) {
    const bool down =
        direction == FE_TOWARDZERO || (direction == FE_DOWNWARD && value > 0) || (direction == FE_UPWARD && value < 0);
    result = std::copysign(down ? largest : std::numeric_limits<long double>::infinity(), value);
  }
  return result;
}

// f(values...) rounded by the processor in the direction.
template <typename T, typename F>
[[gnu::noinline]] T in_direction(int direction, F f, T a, T b = 0, T c = 0) {
  volatile T x = a, y = b, z = c, result = 0;
  {
    const Direction scope(direction);
    result = f(static_cast<T>(x), static_cast<T>(y), static_cast<T>(z));
  }
  return result;
}

// f(a, b, c) with at least 64 bits, the last one set where something is missing: good for one more rounding.
template <typename F>
[[gnu::noinline]] long double to_odd(F f, long double a, long double b, long double c) {
  volatile long double x = a, y = b, z = c, result = 0;
  bool inexact = false;
  {
    const Direction scope(FE_TOWARDZERO);
    std::feclearexcept(FE_ALL_EXCEPT);
    result = f(static_cast<long double>(x), static_cast<long double>(y), static_cast<long double>(z));
    inexact = std::fetestexcept(FE_INEXACT) != 0;
  }
  const long double value = result;
  if (!inexact || std::isnan(value) || std::isinf(value) || value == 0) return value;
  const int exponent = std::ilogb(value) - 63;
  const auto mantissa = static_cast<u64>(std::ldexp(std::fabs(value), -exponent)) | 1;
  return std::copysign(std::ldexp(static_cast<long double>(mantissa), exponent), value);
}

inline float as_float(u64 bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
inline double as_double(u64 bits) { return std::bit_cast<double>(bits); }
// NaNs of float32 have one pattern; those of float64 any: made one here.
inline u64 bits_of(float value) { return std::isnan(value) ? 0x7fffffffU : std::bit_cast<std::uint32_t>(value); }
inline u64 bits_of(double value) { return std::isnan(value) ? 0x7fffffffffffffffULL : std::bit_cast<u64>(value); }
template <typename T>
T from_bits(u64 bits) {
  if constexpr (std::is_same_v<T, float>)
    return as_float(bits);
  else if constexpr (std::is_same_v<T, double>)
    return as_double(bits);
  else
    return static_cast<T>(bits);
}
template <typename T>
T flush(T value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(T(0), value) : value;
}
template <typename T>
T saturate(T value) {
  if (std::isnan(value) || value <= 0) return T(0);
  return value > 1 ? T(1) : value;
}
template <typename T>
T clamp_integer(Wide value) {
  if (value < Wide{std::numeric_limits<T>::min()}) return std::numeric_limits<T>::min();
  return value > Wide{std::numeric_limits<T>::max()} ? std::numeric_limits<T>::max() : static_cast<T>(value);
}

}  // namespace kw::vgpu::host
