// Loops of float16 and bfloat16 arithmetic, one value or two in a lane. Each result is rounded once: sums and float16 products are
// exact enough in float32 for a second rounding to do no harm, the others go through a float32 that is rounded to odd.
#include "vgpu/sem_half.h"

namespace kw::vgpu::KW_ISA {
namespace {

// Bits of the values; extrema, signs and flushing don't need arithmetic.
template <typename F>
KW_ELEMENT std::uint16_t flushed_half(std::uint16_t x) {
  const std::uint16_t exponent = F::is_half ? 0x7c00 : 0x7f80;
  return static_cast<std::uint16_t>((x & exponent) == 0 ? x & 0x8000 : x);
}
template <typename F>
KW_ELEMENT bool is_nan_half(std::uint16_t x) {
  return (x & 0x7fff) > (F::is_half ? 0x7c00 : 0x7f80);
}
// Order of the values as integers, -0 below +0.
KW_ELEMENT std::int16_t order_half(std::uint16_t x) {
  const auto value = static_cast<std::int16_t>(x);
  return static_cast<std::int16_t>(value ^ ((value >> 15) & 0x7fff));
}
template <typename F, bool Ftz, bool Nan, bool Max, bool Xorsign>
KW_ELEMENT std::uint16_t extremum_half(std::uint16_t a, std::uint16_t b) {
  if (Ftz) a = flushed_half<F>(a), b = flushed_half<F>(b);
  const std::uint16_t sign = (a ^ b) & 0x8000, x = Xorsign ? a & 0x7fff : a, y = Xorsign ? b & 0x7fff : b;
  const bool first = Max ? order_half(x) > order_half(y) : order_half(x) < order_half(y);
  const bool x_nan = is_nan_half<F>(x), y_nan = is_nan_half<F>(y);
  std::uint16_t result = first ? x : y;
  result = x_nan ? y : result;
  result = y_nan ? x : result;
  if (Xorsign) result |= sign;
  const bool nan = Nan ? x_nan || y_nan : x_nan && y_nan;
  return nan ? 0x7fff : result;
}
template <typename F, bool Ftz>
KW_ELEMENT std::uint16_t absolute_half(std::uint16_t a) {
  return (Ftz ? flushed_half<F>(a) : a) & 0x7fff;
}
template <typename F, bool Ftz>
KW_ELEMENT std::uint16_t negative_half(std::uint16_t a) {
  return (Ftz ? flushed_half<F>(a) : a) ^ 0x8000;
}

// Sums in float32, rounded to odd: a + b = sum + error, exactly.
KW_ELEMENT float sum_to_odd_float(float a, float b) {
  const float sum = a + b, b_part = sum - a, a_part = sum - b_part, error = (a - a_part) + (b - b_part);
  const auto bits = bits_as<std::uint32_t>(sum);
  const bool inexact = error < 0 || error > 0, away = (error > 0) == (sum > 0);
  return bits_as<float>(inexact && (bits & 1U) == 0 ? (away ? bits + 1 : bits - 1) : bits);
}
// float16: products have 22 bits and fit.
template <FloatOp O>
KW_ELEMENT float halves_combined(float a, float b, float c) {
  if constexpr (O == FloatOp::add) return a + b;
  if constexpr (O == FloatOp::sub) return a - b;
  if constexpr (O == FloatOp::mul) return a * b;
  return sum_to_odd_float(a * b, c);
}
// bfloat16 has the range of float32: products that leave it go through float64.
template <FloatOp O>
KW_ELEMENT float wide_halves_combined(float a, float b, float c) {
  const double exact_product = static_cast<double>(a) * static_cast<double>(b);
  return double_to_odd_float(O == FloatOp::fma ? sum_to_odd(exact_product, c) : exact_product);
}
template <FloatOp O>
KW_ELEMENT bool products_fit(const float* a, const float* b) {
  if constexpr (O != FloatOp::mul && O != FloatOp::fma) return true;
  std::uint32_t outside = 0;
  for (int i = 0; i < kHalves; ++i) {
    const float product = magnitude(a[i] * b[i]);
    const bool fits = product >= 0x1p-100F && product < 0x1p126F, zero = a[i] == 0 || b[i] == 0;
    outside |= fits || zero ? 0U : 1U;
  }
  return outside == 0;
}

template <typename F>
void flush_halves(void* values) {
  auto* halves = static_cast<std::uint16_t*>(__builtin_assume_aligned(values, 64));
  for (int i = 0; i < kHalves; ++i) halves[i] = flushed_half<F>(halves[i]);
}
template <typename F>
void load_halves(const void* from, float* to, bool ftz) {
  if (!ftz) return F::widen(from, to);
  alignas(64) std::uint16_t copy[kHalves];
  std::memcpy(copy, from, sizeof copy);
  flush_halves<F>(copy);
  F::widen(copy, to);
}

template <typename F, FloatOp O, bool Ftz, bool Sat, bool Relu>
void half_arithmetic(void* dst, const void* a, const void* b, const void* c, const LaneExtra&) {
  alignas(64) float x[kHalves], y[kHalves], z[kHalves] = {};
  load_halves<F>(a, x, Ftz);
  load_halves<F>(b, y, Ftz);
  if constexpr (O == FloatOp::fma) load_halves<F>(c, z, Ftz);
  if (F::is_half || products_fit<O>(x, y)) {
    for (int i = 0; i < kHalves; ++i) x[i] = halves_combined<O>(x[i], y[i], z[i]);
  } else {
    for (int i = 0; i < kHalves; ++i) x[i] = wide_halves_combined<O>(x[i], y[i], z[i]);
  }
  for (float& result : x) {
    if constexpr (Sat) result = saturated(result);
    if constexpr (Relu) result = result < 0 || bits_as<std::uint32_t>(result) == 0x80000000U ? 0.0F : result;
  }
  F::narrow(x, dst);
  if constexpr (Ftz) flush_halves<F>(dst);
}

template <typename F, FloatOp O>
LaneFn half_arithmetic_lane(FloatMode mode) {
  const int key = (mode.ftz ? 4 : 0) + (mode.sat ? 2 : 0) + (mode.relu ? 1 : 0);
  switch (key) {
    case 0:
      return half_arithmetic<F, O, false, false, false>;
    case 1:
      return half_arithmetic<F, O, false, false, true>;
    case 2:
      return half_arithmetic<F, O, false, true, false>;
    case 4:
      return half_arithmetic<F, O, true, false, false>;
    case 5:
      return half_arithmetic<F, O, true, false, true>;
    case 6:
      return half_arithmetic<F, O, true, true, false>;
    default:
      return nullptr;
  }
}

template <auto E, int Sources>
inline constexpr LaneFn lanes16 = &Loop16<E, std::uint16_t, Sources>::run;

template <typename F, bool Ftz, bool Nan, bool Max>
LaneFn half_extremum_lane(bool xorsign) {
  return xorsign ? lanes16<extremum_half<F, Ftz, Nan, Max, true>, 2> : lanes16<extremum_half<F, Ftz, Nan, Max, false>, 2>;
}
template <typename F, bool Max>
LaneFn half_extremum_lane(FloatMode mode) {
  if (mode.ftz)
    return mode.nan ? half_extremum_lane<F, true, true, Max>(mode.xorsign) : half_extremum_lane<F, true, false, Max>(mode.xorsign);
  return mode.nan ? half_extremum_lane<F, false, true, Max>(mode.xorsign) : half_extremum_lane<F, false, false, Max>(mode.xorsign);
}

template <typename F>
LaneFn half_lane_of(FloatOp op, FloatMode mode) {
  switch (op) {
    case FloatOp::add:
      return half_arithmetic_lane<F, FloatOp::add>(mode);
    case FloatOp::sub:
      return half_arithmetic_lane<F, FloatOp::sub>(mode);
    case FloatOp::mul:
      return half_arithmetic_lane<F, FloatOp::mul>(mode);
    case FloatOp::fma:
      return half_arithmetic_lane<F, FloatOp::fma>(mode);
    case FloatOp::abs:
      return mode.ftz ? lanes16<absolute_half<F, true>, 1> : lanes16<absolute_half<F, false>, 1>;
    case FloatOp::neg:
      return mode.ftz ? lanes16<negative_half<F, true>, 1> : lanes16<negative_half<F, false>, 1>;
    case FloatOp::min:
      return half_extremum_lane<F, false>(mode);
    case FloatOp::max:
      return half_extremum_lane<F, true>(mode);
    default:
      return nullptr;
  }
}

}  // namespace

LaneFn half_lane(FloatOp op, Type type, FloatMode mode) {
  if (mode.round != Round::none && mode.round != Round::rn) return nullptr;
  const bool has_result_modes = op == FloatOp::add || op == FloatOp::sub || op == FloatOp::mul || op == FloatOp::fma;
  if (!has_result_modes && (mode.sat || mode.relu)) return nullptr;
  if (type == Type::f16 || type == Type::f16x2) return half_lane_of<HalfFormat>(op, mode);
  if (type == Type::bf16 || type == Type::bf16x2) return half_lane_of<BfloatFormat>(op, mode);
  return nullptr;
}

}  // namespace kw::vgpu::KW_ISA
