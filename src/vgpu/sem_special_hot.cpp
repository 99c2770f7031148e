// Loops of the approximate functions: ex2, lg2, sin, cos, tanh, rcp, rsqrt, sqrt, div. Computed in float64 by short polynomials and
// rounded once, which is closer than what PTX promises; docs/ptx-support.md has the measured errors.
#include "vgpu/sem_half.h"

namespace kw::vgpu::KW_ISA {
namespace {

constexpr double kShifter = 0x1.8p52;  // adding it rounds to an integer, which is then in the low bits

// 2^x for |x| < 1000: Taylor's series of exp(f ln 2) for |f| <= 0.5, relative error below 1e-10.
KW_ELEMENT double power_of_two(double x) {
  const double shifted = x + kShifter, whole = shifted - kShifter, f = (x - whole) * 0x1.62e42fefa39efp-1;
  double p = 1.0 / 40320;
  p = p * f + 1.0 / 5040;
  p = p * f + 1.0 / 720;
  p = p * f + 1.0 / 120;
  p = p * f + 1.0 / 24;
  p = p * f + 1.0 / 6;
  p = p * f + 0.5;
  p = p * f + 1.0;
  p = p * f + 1.0;
  // The integer sits in the low bits of `shifted`; moved to the exponent's place it scales p.
  return bits_as<double>(bits_as<std::uint64_t>(p) + (bits_as<std::uint64_t>(shifted) << 52));
}
KW_ELEMENT double limited(double x, double bound) {
  x = x < bound ? x : bound;  // also turns NaN into bound
  return x > -bound ? x : -bound;
}

KW_ELEMENT float ex2_of(float a) {
  const auto result = static_cast<float>(power_of_two(limited(a, 300)));
  return a != a ? canonical(a) : result;
}

// log2 of a positive number: 2 atanh((m - 1) / (m + 1)) / ln 2 with m in [sqrt(1/2), sqrt(2)).
KW_ELEMENT float lg2_of(float a) {
  const double x = a;
  const auto bits = bits_as<std::uint64_t>(x);
  const std::uint64_t lifted = bits - 0x3fe6a09e667f3bcdULL;
  const auto exponent = static_cast<std::int32_t>(static_cast<std::uint32_t>(lifted >> 32)) >> 20;
  const double m = bits_as<double>(bits - (static_cast<std::uint64_t>(static_cast<std::int64_t>(exponent)) << 52));
  const double t = (m - 1) / (m + 1), s = t * t;
  double p = 1.0 / 13;
  p = p * s + 1.0 / 11;
  p = p * s + 1.0 / 9;
  p = p * s + 1.0 / 7;
  p = p * s + 1.0 / 5;
  p = p * s + 1.0 / 3;
  p = p * s + 1.0;
  auto result = static_cast<float>(static_cast<double>(exponent) + 0x1.71547652b82fep+1 * t * p);
  result = a == 0 ? -bits_as<float>(0x7f800000U) : result;
  result = a == bits_as<float>(0x7f800000U) ? a : result;
  return a >= 0 ? result : bits_as<float>(0x7fffffffU);
}

// sin(x + quadrant * pi/2) for |x| below 2^30; Taylor's series around the nearest multiple of pi/2.
KW_ELEMENT double sine(double x, std::uint64_t quadrant) {
  const double shifted = x * 0x1.45f306dc9c883p-1 + kShifter, whole = shifted - kShifter;
  const double r = (x - whole * 0x1.921fb54400000p+0) - whole * 0x1.0b4611a626331p-34, s = r * r;
  double sin_part = 1.0 / 362880;
  sin_part = sin_part * s - 1.0 / 5040;
  sin_part = sin_part * s + 1.0 / 120;
  sin_part = sin_part * s - 1.0 / 6;
  sin_part = sin_part * s * r + r;
  double cos_part = -1.0 / 3628800;
  cos_part = cos_part * s + 1.0 / 40320;
  cos_part = cos_part * s - 1.0 / 720;
  cos_part = cos_part * s + 1.0 / 24;
  cos_part = cos_part * s - 0.5;
  cos_part = cos_part * s + 1.0;
  const std::uint64_t q = bits_as<std::uint64_t>(shifted) + quadrant;
  const double value = (q & 1) != 0 ? cos_part : sin_part;
  return bits_as<double>(bits_as<std::uint64_t>(value) ^ (q & 2) << 62);
}
// Beyond 2^30 the nearest multiple of pi/2 needs more bits than a double has; fmod with a rounded pi is what a fixed-point
// reduction amounts to.
template <int Quadrant>
KW_ELEMENT float sine_of(float a) {
  const auto result = static_cast<float>(sine(limited(a, 0x1p30), Quadrant));
  const bool small = magnitude(a) <= 0x1p30F;
  const float exact_zero = Quadrant == 0 && a == 0 ? a : result;
  return small ? exact_zero : bits_as<float>(0x7fffffffU);
}
template <int Quadrant, bool Ftz>
void sine_lanes(void* dst, const void* a, const void*, const void*, const LaneExtra&) {
  auto* d = words<float>(dst);
  alignas(64) float x[kLanes];
  std::memcpy(x, a, sizeof x);
  if (Ftz)
    for (float& value : x) value = flushed(value);
  KW_LANE_LOOP for (int i = 0; i < kLanes; ++i) d[i] = bits_as<std::uint32_t>(flush_if<Ftz>(sine_of<Quadrant>(x[i])));
  for (int i = 0; i < kLanes; ++i) {
    const bool large = magnitude(x[i]) > 0x1p30F && magnitude(x[i]) < bits_as<float>(0x7f800000U);
    if (large) d[i] = bits_as<std::uint32_t>(static_cast<float>(Quadrant == 0 ? __builtin_sin(x[i]) : __builtin_cos(x[i])));
  }
}

KW_ELEMENT float tanh_of(float a) {
  const double x = a, s = x * x;
  double near = -17.0 / 315;
  near = near * s + 2.0 / 15;
  near = near * s - 1.0 / 3;
  near = near * s * x + x;
  const double far = 1 - 2 / (power_of_two(limited(x * 0x1.71547652b82fep+1, 60)) + 1);
  const auto result = static_cast<float>(s < 0.01 ? near : far);
  return a != a ? canonical(a) : result;
}

KW_ELEMENT float rcp_approx_of(float a) { return canonical(1.0F / a); }
KW_ELEMENT float sqrt_approx_of(float a) { return canonical(__builtin_sqrtf(a)); }
KW_ELEMENT float rsqrt_approx_of(float a) { return canonical(static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(a)))); }
// a * (1/b), where the reciprocal of a huge b is flushed to zero, as PTX says.
KW_ELEMENT float div_approx_of(float a, float b) {
  const float near = a / b, zeroed = a * bits_as<float>(bits_as<std::uint32_t>(b) & 0x80000000U);
  return canonical(magnitude(b) > 0x1p126F && magnitude(b) <= 0x1.fffffep127F ? zeroed : near);
}

template <auto F, bool Ftz>
KW_ELEMENT float one_flushed(float a) {
  return flush_if<Ftz>(F(flush_if<Ftz>(a)));
}
template <auto F, bool Ftz>
KW_ELEMENT float two_flushed(float a, float b) {
  return flush_if<Ftz>(F(flush_if<Ftz>(a), flush_if<Ftz>(b)));
}

// Only the upper half of a float64 goes in and comes out.
template <bool Root>
KW_ELEMENT double coarse_f64(double a) {
  const double x = bits_as<double>(bits_as<std::uint64_t>(flushed(a)) & 0xffffffff00000000ULL);
  const double result = flushed(Root ? 1 / __builtin_sqrt(x) : 1 / x);
  return bits_as<double>(bits_as<std::uint64_t>(result) & 0xffffffff00000000ULL);
}
KW_ELEMENT double rsqrt_f64(double a) { return 1 / __builtin_sqrt(a); }

// Of float16 and bfloat16: computed for float32 and rounded.
template <typename F, auto E, bool Ftz>
void half_special(void* dst, const void* a, const void*, const void*, const LaneExtra&) {
  alignas(64) float x[kHalves];
  F::widen(a, x);
  const float tiny = F::is_half ? 0x1p-14F : 0x1p-126F;
  for (float& value : x) {
    if (Ftz) value = magnitude(value) < tiny ? bits_as<float>(bits_as<std::uint32_t>(value) & 0x80000000U) : value;
    value = E(value);
    if (Ftz) value = magnitude(value) < tiny ? bits_as<float>(bits_as<std::uint32_t>(value) & 0x80000000U) : value;
  }
  F::narrow(x, dst);
}
template <typename F>
LaneFn half_special_lane(FloatOp op, bool ftz) {
  if (op == FloatOp::ex2) return ftz ? half_special<F, ex2_of, true> : half_special<F, ex2_of, false>;
  if (op == FloatOp::tanh) return ftz ? nullptr : half_special<F, tanh_of, false>;
  return nullptr;
}

template <bool Ftz>
LaneFn special_f32(FloatOp op) {
  switch (op) {
    case FloatOp::ex2:
      return lanes<one_flushed<ex2_of, Ftz>>;
    case FloatOp::lg2:
      return lanes<one_flushed<lg2_of, Ftz>>;
    case FloatOp::sin:
      return sine_lanes<0, Ftz>;
    case FloatOp::cos:
      return sine_lanes<1, Ftz>;
    case FloatOp::tanh:
      return Ftz ? nullptr : lanes<tanh_of>;
    case FloatOp::rcp_approx:
      return lanes<one_flushed<rcp_approx_of, Ftz>>;
    case FloatOp::sqrt_approx:
      return lanes<one_flushed<sqrt_approx_of, Ftz>>;
    case FloatOp::rsqrt_approx:
      return lanes<one_flushed<rsqrt_approx_of, Ftz>>;
    case FloatOp::div_approx:
      return lanes<two_flushed<div_approx_of, Ftz>>;
    default:
      return nullptr;
  }
}

}  // namespace

LaneFn special_lane(FloatOp op, Type type, FloatMode mode) {
  if (mode.sat || mode.relu || mode.nan || mode.xorsign) return nullptr;
  switch (type) {
    case Type::f32:
      return mode.ftz ? special_f32<true>(op) : special_f32<false>(op);
    case Type::f64:
      if (op == FloatOp::rcp_approx) return mode.ftz ? lanes<coarse_f64<false>> : nullptr;
      if (op == FloatOp::rsqrt_approx) return mode.ftz ? lanes<coarse_f64<true>> : lanes<rsqrt_f64>;
      return nullptr;
    case Type::f16:
    case Type::f16x2:
      return half_special_lane<HalfFormat>(op, mode.ftz);
    case Type::bf16:
    case Type::bf16x2:
      return half_special_lane<BfloatFormat>(op, mode.ftz);
    default:
      return nullptr;
  }
}

}  // namespace kw::vgpu::KW_ISA
