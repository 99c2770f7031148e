// Exponentials on vectors and what is made of them: expm1, tanh, the logistic function, silu, mish, GELU by tanh.
// Polynomials within about 2 units in the last place of the true value, for every float; infinities and NaN as in libm.
// Pieces to paste; vectors.h says how. Contraction to fused multiply-adds is welcome and not relied upon.
#pragma once

#include "maths_basic.h"

// piece: exp_parts needs: vec
// x = n ln 2 + r with |r| <= ln 2 / 2; exp(r) = 1 + expm1.
struct kw_exp_parts {
  kw_ivec n;
  kw_vec expm1;
};
KW_INLINE kw_exp_parts kw_split_exp(kw_vec x) {
  const kw_vec shifted = x * 1.44269504f + 12582912.0f;  // 1.5 * 2^23: the low bits of the sum are the rounded product
  const kw_vec n = shifted - 12582912.0f;
  // The upper part of ln 2 has so few bits that its product with n is exact.
  const kw_vec r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  kw_vec p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  return {(kw_ivec)shifted - 0x4b400000, (r * r) * p + r};
}

// piece: exp_normal needs: vec exp_parts
// exp for arguments in [-87, 88], where the result is neither infinite nor denormal; NaN gives NaN.
KW_INLINE kw_vec kw_exp_normal(kw_vec x) {
  const kw_exp_parts e = kw_split_exp(x);
  return (e.expm1 + 1.0f) * (kw_vec)((e.n + 127) << 23);
}

// piece: exp needs: vec splat exp_parts
KW_INLINE kw_vec kw_exp(kw_vec x) {
  const kw_vec high = kw_splat(89.0f), low = kw_splat(-104.0f);  // past these the result is infinite, or 0
  x = x > high ? high : x;
  x = x < low ? low : x;
  const kw_exp_parts e = kw_split_exp(x);
  // 2^n in two factors: the first product is exact, the second rounds once, also to a denormal.
  const kw_ivec half = e.n >> 1;
  return ((e.expm1 + 1.0f) * (kw_vec)((half + 127) << 23)) * (kw_vec)((e.n - half + 127) << 23);
}

// piece: exp2 needs: vec splat
KW_INLINE kw_vec kw_exp2(kw_vec x) {
  const kw_vec high = kw_splat(129.0f), low = kw_splat(-151.0f);
  x = x > high ? high : x;
  x = x < low ? low : x;
  const kw_vec shifted = x + 12582912.0f;
  const kw_vec f = x - (shifted - 12582912.0f);
  kw_vec p = f * 1.535336188319500e-4f + 1.339887440266574e-3f;
  p = p * f + 9.618437357674640e-3f;
  p = p * f + 5.550332471162809e-2f;
  p = p * f + 2.402264791363012e-1f;
  p = p * f + 6.931472028550421e-1f;
  const kw_ivec n = (kw_ivec)shifted - 0x4b400000;
  const kw_ivec half = n >> 1;
  return ((p * f + 1.0f) * (kw_vec)((half + 127) << 23)) * (kw_vec)((n - half + 127) << 23);
}

// piece: expm1 needs: vec splat exp_parts
KW_INLINE kw_vec kw_expm1(kw_vec x) {
  const kw_vec high = kw_splat(89.0f), low = kw_splat(-80.0f);  // past these the result is infinite, or -1
  const kw_vec clamped = x > high ? high : x;
  const kw_exp_parts e = kw_split_exp(clamped < low ? low : clamped);
  const kw_vec half_scale = (kw_vec)((e.n + 126) << 23);  // 2^128 is no float, 2^127 is
  const kw_vec y = (half_scale * e.expm1 + (half_scale - 0.5f)) * 2.0f;
  return e.n == 0 ? e.expm1 : y;
}

// piece: tanh needs: vec splat abs copysign exp_normal
KW_INLINE kw_vec kw_tanh(kw_vec x) {
  const kw_vec magnitude = kw_abs(x), one_from_here = kw_splat(9.1f);
  const kw_vec bounded = magnitude > one_from_here ? one_from_here : magnitude;
  const kw_vec large = kw_copysign(1.0f - 2.0f / (kw_exp_normal(bounded + bounded) + 1.0f), x);
  const kw_vec s = x * x;
  kw_vec p = s * -5.70498872745e-3f + 2.06390887954e-2f;
  p = p * s - 5.37397155531e-2f;
  p = p * s + 1.33314422036e-1f;
  p = p * s - 3.33332819422e-1f;
  return magnitude < 0.625f ? (p * s) * x + x : large;
}

// piece: sigmoid needs: vec splat abs exp
// 1 / (1 + exp(-x)), from exp(-|x|), which cannot overflow.
KW_INLINE kw_vec kw_sigmoid(kw_vec x) {
  const kw_vec e = kw_exp(-kw_abs(x)), one = kw_splat(1.0f);
  return (x < 0.0f ? e : one) / (e + 1.0f);
}

// piece: silu needs: vec sigmoid
KW_INLINE kw_vec kw_silu(kw_vec x) { return x * kw_sigmoid(x); }

// piece: mish needs: vec splat exp
// x tanh(log(1 + e)) with e = exp(x) is x e (e + 2) / (e (e + 2) + 2): one exponential, no logarithm, no cancellation.
KW_INLINE kw_vec kw_mish(kw_vec x) {
  const kw_vec one_from_here = kw_splat(20.0f);
  const kw_vec e = kw_exp(x > one_from_here ? one_from_here : x);
  const kw_vec q = e * (e + 2.0f);
  return x * (q / (q + 2.0f));
}

// piece: gelu_tanh needs: vec sigmoid
// 0.5 x (1 + tanh(t)) is x sigmoid(2 t), which keeps its digits where tanh is near -1.
KW_INLINE kw_vec kw_gelu_tanh(kw_vec x) { return x * kw_sigmoid((x * x * 0.0713548163f + 1.59576912f) * x); }
