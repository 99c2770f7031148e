// Powers on vectors, in double precision inside: within a unit in the last place, with libm's rules for zeros, infinities, NaN
// and negative bases. Pieces to paste; vectors.h says how.
#pragma once

#include "maths_log.h"

// piece: pow_positive needs: vec log_parts
// 2^(y log2 x) for half a vector of x = 2^k (1 + f), in doubles. log2 x is 0 exactly where x is 1.
typedef float kw_pow_floats __attribute__((vector_size(2 * kw_lanes)));
typedef double kw_pow_doubles __attribute__((vector_size(4 * kw_lanes)));
typedef long long kw_pow_longs __attribute__((vector_size(4 * kw_lanes)));
KW_INLINE kw_pow_floats kw_pow_half(kw_pow_floats k, kw_pow_floats f, kw_pow_floats y) {
  const kw_pow_doubles g = __builtin_convertvector(f, kw_pow_doubles), s = g / (g + 2.0), t = s * s;
  kw_pow_doubles p = t * (2.0 / 15) + 2.0 / 13;  // log(1 + f) as the series of atanh
  p = p * t + 2.0 / 11;
  p = p * t + 2.0 / 9;
  p = p * t + 2.0 / 7;
  p = p * t + 2.0 / 5;
  p = p * t + 2.0 / 3;
  const kw_pow_doubles log2 = (p * t * s + 2.0 * s) * 1.4426950408889634 + __builtin_convertvector(k, kw_pow_doubles);
  kw_pow_doubles z = log2 * __builtin_convertvector(y, kw_pow_doubles);
  const kw_pow_doubles high = kw_pow_doubles{} + 300.0, low = kw_pow_doubles{} - 300.0;  // far past the range of floats
  z = z > high ? high : z;
  z = z < low ? low : z;
  const kw_pow_doubles shifted = z + 6755399441055744.0;  // 1.5 * 2^52: the low bits of the sum are the rounded exponent
  const kw_pow_doubles r = (z - (shifted - 6755399441055744.0)) * 0.6931471805599453;
  kw_pow_doubles e = r * (1.0 / 40320) + 1.0 / 5040;
  e = e * r + 1.0 / 720;
  e = e * r + 1.0 / 120;
  e = e * r + 1.0 / 24;
  e = e * r + 1.0 / 6;
  e = e * r + 0.5;
  e = e * r + 1.0;
  e = e * r + 1.0;
  return __builtin_convertvector(e * (kw_pow_doubles)(((kw_pow_longs)shifted + 1023) << 52), kw_pow_floats);
}
KW_INLINE kw_vec kw_pow_positive(kw_vec x, kw_vec y) {
  const kw_log_parts parts = kw_split_log_any(x);
  const kw_vec k = __builtin_convertvector(parts.k, kw_vec);
  kw_pow_floats ks[2], fs[2], ys[2];
  __builtin_memcpy(ks, &k, sizeof k);
  __builtin_memcpy(fs, &parts.f, sizeof k);
  __builtin_memcpy(ys, &y, sizeof k);
  const kw_pow_floats halves[2] = {kw_pow_half(ks[0], fs[0], ys[0]), kw_pow_half(ks[1], fs[1], ys[1])};
  kw_vec result;
  __builtin_memcpy(&result, halves, sizeof result);
  return result;
}

// piece: pow needs: vec abs copysign splat trunc pow_positive
KW_INLINE kw_vec kw_pow(kw_vec x, kw_vec y) {
  const kw_vec zero{}, one = kw_splat(1.0f), infinity = kw_splat(__builtin_inff()), nan = kw_splat(__builtin_nanf(""));
  const kw_vec magnitude = kw_abs(x), half = y * 0.5f;
  const kw_mask whole = kw_trunc(y) == y, odd = whole & (kw_trunc(half) != half);
  kw_vec power = kw_pow_positive(magnitude, y);
  // 0 and infinity are no 2^k (1 + f); the sign of y decides.
  const kw_mask is_zero = magnitude == 0.0f, is_infinite = magnitude == infinity, up = y > 0.0f, down = y < 0.0f;
  power = ((is_zero & up) | (is_infinite & down)) ? zero : power;
  power = ((is_zero & down) | (is_infinite & up)) ? infinity : power;
  power = ((magnitude == 1.0f) & (kw_abs(y) == infinity)) ? one : power;
  power = odd ? kw_copysign(power, x) : power;
  power = ((x < 0.0f) & ~whole & ~is_infinite) ? nan : power;
  power = ((x != x) | (y != y)) ? nan : power;
  return ((y == 0.0f) | (x == 1.0f)) ? one : power;
}
