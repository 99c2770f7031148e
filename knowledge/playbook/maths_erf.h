// The error function on vectors, and GELU in its exact form. erf within 2 units in the last place, erfc within 8, for every
// float; GELU keeps its digits in the negative tail, where 1 + erf would lose them. Pieces to paste; vectors.h says how.
#pragma once

#include "maths_exp.h"

// piece: erf needs: vec abs copysign splat exp_normal
KW_INLINE kw_vec kw_erf(kw_vec x) {
  const kw_vec one_from_here = kw_splat(4.0f), magnitude = kw_abs(x), s = x * x;
  const kw_vec t = magnitude > one_from_here ? one_from_here : magnitude;
  kw_vec q = t * -1.72853470e-5f + 3.83197126e-4f;  // 1 - erf is the exponential of a polynomial
  q = q * t - 3.88396438e-3f;
  q = q * t + 2.42546219e-2f;
  q = q * t - 1.06777877e-1f;
  q = q * t - 6.34846687e-1f;
  q = q * t - 1.28717512e-1f;
  const kw_vec large = kw_copysign(1.0f - kw_exp_normal(q * t - t), x);
  kw_vec p = s * -5.96761703e-4f + 4.99119423e-3f;
  p = p * s - 2.67681349e-2f;
  p = p * s + 1.12819925e-1f;
  p = p * s - 3.76125336e-1f;
  p = p * s + 1.28379166e-1f;
  return magnitude > 0.927734375f ? large : p * x + x;
}

// piece: normal_tail_ratio needs: vec
// exp(x x / 2) times the probability that a normal variable is above x, for x >= 0; a polynomial in 1 / (1 + 0.3 x).
KW_INLINE kw_vec kw_normal_tail_ratio(kw_vec x) {
  const kw_vec u = 1.0f / (x * 0.3f + 1.0f);
  kw_vec p = u * -0.0206286609f + 0.112464793f;
  p = p * u - 0.228284806f;
  p = p * u + 0.191883326f;
  p = p * u - 0.0795092061f;
  p = p * u + 0.0962049589f;
  p = p * u + 0.0783722028f;
  p = p * u + 0.110239349f;
  p = p * u + 0.119571313f;
  p = p * u + 0.119686715f;
  return p * u;
}

// piece: erfc needs: vec abs splat exp normal_tail_ratio
KW_INLINE kw_vec kw_erfc(kw_vec x) {
  const kw_vec zero_from_here = kw_splat(11.0f), magnitude = kw_abs(x);
  const kw_vec t = magnitude > zero_from_here ? zero_from_here : magnitude;
  const kw_vec square = t * t;
  // What rounding took from the square; the upper part of t has so few bits that its own square is exact.
  const kw_vec upper = (kw_vec)((kw_ivec)t & ~0xfff), lower = t - upper;
  const kw_vec rest = ((upper * upper - square) + 2.0f * upper * lower) + lower * lower;
  const kw_vec e = kw_exp(-square) * (2.0f * kw_normal_tail_ratio(t * 1.41421356f));
  const kw_vec tail = e - e * rest;
  return x < 0.0f ? 2.0f - tail : tail;
}

// piece: gelu needs: vec splat abs at_most
// x times the probability that a normal variable is below x. Twice the probability of a tail is 2 to the power of a polynomial, to
// float precision for |x| < 6; from there on, where 1 + erf is 0 in floats, it falls to 0 a little faster than the true one.
KW_INLINE kw_vec kw_gelu(kw_vec x) {
  const kw_vec t = kw_at_most(kw_abs(x), kw_splat(14.0f)), s = t * t, ss = s * s;  // the tail is 0 from there on
  // Short chains, for machines that do several things at once.
  const kw_vec high = (t * -2.00266665e-8f + 6.28965893e-7f) * s + (t * -8.45873819e-6f + 6.15991739e-5f);
  const kw_vec middle = (t * -2.27777957e-4f - 1.08732289e-4f) * s + (t * 7.08030397e-3f - 5.25307171e-2f);
  const kw_vec power = ((high * ss + middle) * s + (t * -4.59192455e-1f - 1.15110719f)) * t;
  const kw_vec shifted = power + 12582912.0f;  // the low bits of the sum are the rounded power
  const kw_vec r = power - (shifted - 12582912.0f), rr = r * r;
  const kw_vec upper = r * 1.33990030e-3f + 9.61843900e-3f, lower = r * 5.55033200e-2f + 2.40226480e-1f;
  const kw_vec root = ((rr * 1.53532590e-4f + upper) * rr + lower) * rr + (r * 6.93147200e-1f + 1.0f);
  const kw_vec half_tail = root * (kw_vec)(((kw_uvec)shifted << 23) + 0x3f000000u);
  const kw_vec tail = (kw_vec)((kw_ivec)half_tail & ~(power < -125.0f));
  return x * (x < 0.0f ? tail : 1.0f - tail);
}
