// Exponentials on vectors and what is made of them: expm1, tanh, the logistic function, silu, mish, GELU by tanh.
// Polynomials within about 2 units in the last place of the true value, for every float; infinities and NaN as in libm.
// The smallest results are normal: exp gives 0 for what would be denormal.
// Pieces to paste; vectors.h says how. Contraction to fused multiply-adds is welcome and not relied upon.
#pragma once

#include "maths_basic.h"

// piece: exp_parts needs: vec
// x = n ln 2 + r with |r| <= ln 2 / 2; exp(r) = 1 + expm1; n is in the low bits of `shifted`, the others fall off its left end with
// << 23.
struct kw_exp_parts {
  kw_uvec shifted;
  kw_vec expm1;
};
KW_INLINE kw_exp_parts kw_split_exp(kw_vec x) {
  const kw_vec shifted = x * 1.44269504f + 12582912.0f;  // 1.5 * 2^23: the low bits of the sum are the rounded product
  const kw_vec n = shifted - 12582912.0f;
  // The upper part of ln 2 has so few bits that its product with n is exact.
  const kw_vec r = (x - n * 0.693359375f) - n * -2.12194440e-4f, s = r * r;
  const kw_vec upper = r * 8.36878084e-3f + 4.16683927e-2f;  // short chains, for machines that do several things at once
  const kw_vec lower = r * 1.66665196e-1f + 4.99999940e-1f;
  return {(kw_uvec)shifted, ((s * 1.38144672e-3f + upper) * s + lower) * s + r};
}

// piece: exp_normal needs: vec exp_parts
// exp for arguments in [-87, 88], where the result is neither infinite nor denormal; infinity for 89, NaN for NaN.
KW_INLINE kw_vec kw_exp_normal(kw_vec x) {
  const kw_exp_parts e = kw_split_exp(x);
  return (e.expm1 + 1.0f) * (kw_vec)((e.shifted << 23) + 0x3f800000u);
}

// piece: exp needs: vec exp_parts
// What would be denormal is 0.
KW_INLINE kw_vec kw_exp(kw_vec x) {
  const kw_exp_parts e = kw_split_exp(x);
  const kw_vec y = (kw_vec)((kw_uvec)(e.expm1 + 1.0f) + (e.shifted << 23));  // n is added to the exponent
  const kw_vec finite = (kw_vec)((kw_ivec)y & ~(x < -87.3365402f));
  return x <= 88.7228317f ? finite : x + __builtin_inff();  // too large, or NaN
}

// piece: exp_to_one needs: vec exp_normal
// exp for arguments that are not above 0 (or 88), so that nothing overflows; what would be denormal is 0, NaN gives NaN.
KW_INLINE kw_vec kw_exp_to_one(kw_vec x) { return (kw_vec)((kw_ivec)kw_exp_normal(x) & ~(x < -87.3365402f)); }

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
  const kw_ivec n = (kw_ivec)((kw_uvec)shifted - 0x4b400000u);
  const kw_ivec half = n >> 1;
  return ((p * f + 1.0f) * (kw_vec)((half + 127) << 23)) * (kw_vec)((n - half + 127) << 23);
}

// piece: expm1 needs: vec splat at_most at_least exp_parts
KW_INLINE kw_vec kw_expm1(kw_vec x) {
  // Past these the result is infinite, or -1.
  const kw_exp_parts e = kw_split_exp(kw_at_least(kw_at_most(x, kw_splat(89.0f)), kw_splat(-80.0f)));
  const kw_vec half_scale = (kw_vec)((e.shifted << 23) + 0x3f000000u);  // 2^128 is no float, 2^127 is
  const kw_vec y = (half_scale * e.expm1 + (half_scale - 0.5f)) * 2.0f;
  return e.shifted == 0x4b400000u ? e.expm1 : y;
}

// piece: expm1_of_negatives needs: vec any expm1
// expm1 of what is not above 0; results for other arguments do not count. 0 and NaN are their own.
KW_INLINE kw_vec kw_expm1_of_negatives(kw_vec x) { return kw_any(x < 0.0f) ? kw_expm1(x) : x; }

// piece: tanh needs: vec splat at_most at_least exp_parts
// m / (m + 2) with m = exp(2 x) - 1, which keeps its digits near 0.
KW_INLINE kw_vec kw_tanh(kw_vec x) {
  const kw_vec one_from_here = kw_splat(18.2f);
  const kw_exp_parts e = kw_split_exp(kw_at_least(kw_at_most(x + x, one_from_here), -one_from_here));
  const kw_vec scale = (kw_vec)((e.shifted << 23) + 0x3f800000u);
  const kw_vec m = scale * e.expm1 + (scale - 1.0f);
  return m / (m + 2.0f);
}

// piece: sigmoid needs: vec splat at_most at_least exp_normal
// Past these exp(-x) counts for nothing, or is infinite.
KW_INLINE kw_vec kw_sigmoid(kw_vec x) {
  return 1.0f / (kw_exp_normal(-kw_at_least(kw_at_most(x, kw_splat(87.0f)), kw_splat(-89.0f))) + 1.0f);
}

// piece: silu needs: vec sigmoid
KW_INLINE kw_vec kw_silu(kw_vec x) { return x * kw_sigmoid(x); }

// piece: mish needs: vec splat at_most exp_to_one
// x tanh(log(1 + e)) with e = exp(x) is x e (e + 2) / (e (e + 2) + 2): one exponential, no logarithm, no cancellation.
KW_INLINE kw_vec kw_mish(kw_vec x) {
  const kw_vec e = kw_exp_to_one(kw_at_most(x, kw_splat(20.0f)));  // from there on the quotient is 1
  const kw_vec q = e * (e + 2.0f);
  return x * (q / (q + 2.0f));
}

// piece: gelu_tanh needs: vec sigmoid
// 0.5 x (1 + tanh(t)) is x sigmoid(2 t), which keeps its digits where tanh is near -1.
KW_INLINE kw_vec kw_gelu_tanh(kw_vec x) { return x * kw_sigmoid((x * x * 0.0713548163f + 1.59576912f) * x); }
