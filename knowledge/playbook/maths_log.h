// Logarithms on vectors and softplus. Polynomials within about 2 units in the last place of the true value, for every float;
// -infinity at the pole, NaN below it. Pieces to paste; vectors.h says how.
#pragma once

#include "maths_exp.h"

// piece: log_parts needs: vec
// x = 2^k (1 + f) for a normal x > 0, with 1 + f between the roots of 1/2 and of 2.
struct kw_log_parts {
  kw_ivec k;
  kw_vec f;
};
KW_INLINE kw_log_parts kw_split_log(kw_vec x) {
  const kw_ivec above_root = (kw_ivec)((kw_uvec)x - 0x3f3504f3u);
  return {above_root >> 23, (kw_vec)((above_root & 0x7fffff) + 0x3f3504f3) - 1.0f};
}
// The same for every x > 0: a denormal one is scaled first.
KW_INLINE kw_log_parts kw_split_log_any(kw_vec x) {
  const kw_mask denormal = x < 1.17549435e-38f;
  kw_log_parts parts = kw_split_log(denormal ? x * 33554432.0f : x);
  parts.k -= denormal & 25;
  return parts;
}

// piece: log_tail needs: vec
// log(1 + f) - f + f f / 2
KW_INLINE kw_vec kw_log_tail(kw_vec f) {
  const kw_vec s = f * f;
  kw_vec even = s * 7.0376836292e-2f + 1.1676998740e-1f;  // two chains, for machines that do several things at once
  even = even * s + 1.4249322787e-1f;
  even = even * s + 2.0000714765e-1f;
  even = even * s + 3.3333331174e-1f;
  kw_vec odd = s * -1.1514610310e-1f - 1.2420140846e-1f;
  odd = odd * s - 1.6668057665e-1f;
  odd = odd * s - 2.4999993993e-1f;
  return (odd * f + even) * (f * s);
}

// piece: log_joined needs: vec log_parts log_tail
// k ln 2 + log(1 + f), small terms first.
KW_INLINE kw_vec kw_join_log(kw_log_parts parts) {
  const kw_vec k = __builtin_convertvector(parts.k, kw_vec), f = parts.f;
  const kw_vec low = (kw_log_tail(f) + k * -2.12194440e-4f) - 0.5f * (f * f);
  return k * 0.693359375f + (low + f);
}

// piece: log_edges needs: vec splat
// y where x > 0, -infinity at 0, NaN below and for NaN, infinity at infinity.
KW_INLINE kw_vec kw_log_edges(kw_vec x, kw_vec y) {
  const kw_vec infinity = kw_splat(__builtin_inff()), pole = x == 0.0f ? -infinity : kw_splat(__builtin_nanf(""));
  y = x > 0.0f ? y : pole;
  return x == infinity ? infinity : y;
}

// piece: log needs: vec log_parts log_joined log_edges
KW_INLINE kw_vec kw_log(kw_vec x) { return kw_log_edges(x, kw_join_log(kw_split_log_any(x))); }

// piece: log2 needs: vec log_parts log_tail log_edges
KW_INLINE kw_vec kw_log2(kw_vec x) {
  const kw_log_parts parts = kw_split_log_any(x);
  const kw_vec f = parts.f, low = kw_log_tail(f) - 0.5f * (f * f);
  // log2(e) is 1 + 0.4427: the larger part is exact.
  const kw_vec near_one = (low * 0.44269504f + f * 0.44269504f) + low + f;
  return kw_log_edges(x, near_one + __builtin_convertvector(parts.k, kw_vec));
}

// piece: log1p_finite needs: vec log_parts log_joined
// log(1 + x) for finite x > -1. The digits that 1 + x would lose are kept: f = x / 2^k + (1 / 2^k - 1).
KW_INLINE kw_vec kw_log1p_finite(kw_vec x) {
  kw_log_parts parts = kw_split_log(x + 1.0f);
  const kw_vec scale = (kw_vec)((127 - parts.k) << 23);
  parts.f = parts.k < 64 ? x * scale + (scale - 1.0f) : parts.f;
  return kw_join_log(parts);
}

// piece: log1p needs: vec log1p_finite log_edges
KW_INLINE kw_vec kw_log1p(kw_vec x) { return kw_log_edges(x + 1.0f, kw_log1p_finite(x)); }

// piece: softplus needs: vec abs relu exp_to_one
// log(1 + exp(x)) without overflow: log(1 + e) of e in [0, 1] is twice the inverse hyperbolic tangent of e / (e + 2), which is at
// most 1/3.
KW_INLINE kw_vec kw_softplus(kw_vec x) {
  const kw_vec e = kw_exp_to_one(-kw_abs(x)), f = e / (e + 2.0f), s = f * f, twice = f + f;
  const kw_vec p = (s * 1.33899403e-1f + 1.41255015e-1f) * (s * s) + (s * 2.00033619e-1f + 3.33333264e-1f);
  return kw_relu(x) + (twice * (s * p) + twice);
}
