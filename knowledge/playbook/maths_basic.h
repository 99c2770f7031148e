// Arithmetic on vectors that needs no approximation: absolute values, roots, rounding. Exact, or rounded once.
// Pieces to paste; vectors.h says how.
#pragma once

#include "vectors.h"

// piece: abs needs: vec
KW_INLINE kw_vec kw_abs(kw_vec x) { return (kw_vec)((kw_ivec)x & 0x7fffffff); }

// piece: scalar_abs needs:
template <class T>
static inline T kw_abs(T x) {
  return x < T(0) ? -x : x + T(0);  // -0 + 0 is 0
}

// piece: copysign needs: vec
// The magnitude of x with the sign of y.
KW_INLINE kw_vec kw_copysign(kw_vec x, kw_vec y) { return (kw_vec)(((kw_ivec)x & 0x7fffffff) | ((kw_ivec)y & ~0x7fffffff)); }

// piece: scalar_copysign needs: cmath
static inline float kw_copysign(float x, float y) { return std::copysign(x, y); }
static inline double kw_copysign(double x, double y) { return std::copysign(x, y); }

// piece: sign needs: vec
// -1, 0 or 1; 0 for NaN.
KW_INLINE kw_vec kw_sign(kw_vec x) {
  const kw_vec zero{};
  return __builtin_convertvector((x < zero) - (x > zero), kw_vec);
}

// piece: scalar_sign needs:
template <class T>
static inline T kw_sign(T x) {
  return T((x > T(0)) - (x < T(0)));
}

// piece: fma needs: vec
// a * b + c, in one instruction where the machine has it (then rounded once).
KW_INLINE kw_vec kw_fma(kw_vec a, kw_vec b, kw_vec c) { return a * b + c; }

// piece: scalar_fma needs:
template <class T>
static inline T kw_fma(T a, T b, T c) {
  return a * b + c;
}

// piece: sqrt needs: vec intrinsics cmath
KW_INLINE kw_vec kw_sqrt(kw_vec x) {
#if defined(__AVX512F__)
  return (kw_vec)_mm512_maskz_sqrt_ps((__mmask16)-1, (__m512)x);
#elif defined(__AVX__)
  return (kw_vec)_mm256_sqrt_ps((__m256)x);
#elif defined(__SSE2__)
  return (kw_vec)_mm_sqrt_ps((__m128)x);
#elif defined(__ARM_NEON) && defined(__aarch64__)
  return (kw_vec)vsqrtq_f32((float32x4_t)x);
#else
  for (int i = 0; i < kw_lanes; ++i) x[i] = std::sqrt(x[i]);
  return x;
#endif
}

// piece: scalar_sqrt needs: cmath
static inline float kw_sqrt(float x) { return std::sqrt(x); }
static inline double kw_sqrt(double x) { return std::sqrt(x); }

// piece: rsqrt needs: vec sqrt
KW_INLINE kw_vec kw_rsqrt(kw_vec x) { return 1.0f / kw_sqrt(x); }

// piece: scalar_rsqrt needs: cmath
static inline float kw_rsqrt(float x) { return 1.0f / std::sqrt(x); }
static inline double kw_rsqrt(double x) { return 1.0 / std::sqrt(x); }

// piece: trunc needs: vec intrinsics
KW_INLINE kw_vec kw_trunc(kw_vec x) {
#if defined(__AVX512F__)
  return (kw_vec)_mm512_maskz_roundscale_ps((__mmask16)-1, (__m512)x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#elif defined(__AVX__)
  return (kw_vec)_mm256_round_ps((__m256)x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#else
  const kw_vec magnitude = (kw_vec)((kw_ivec)x & 0x7fffffff);
  const kw_vec whole = __builtin_convertvector(__builtin_convertvector(magnitude, kw_ivec), kw_vec);
  // From 2^23 on every float is whole; conversion would overflow.
  return magnitude < 8388608.0f ? (kw_vec)((kw_ivec)whole | ((kw_ivec)x & ~0x7fffffff)) : x;
#endif
}

// piece: scalar_trunc needs: cmath
static inline float kw_trunc(float x) { return std::trunc(x); }
static inline double kw_trunc(double x) { return std::trunc(x); }

// piece: floor needs: vec intrinsics trunc
KW_INLINE kw_vec kw_floor(kw_vec x) {
#if defined(__AVX512F__)
  return (kw_vec)_mm512_maskz_roundscale_ps((__mmask16)-1, (__m512)x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
#elif defined(__AVX__)
  return (kw_vec)_mm256_round_ps((__m256)x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
#else
  const kw_vec whole = kw_trunc(x);
  return whole > x ? whole - 1.0f : whole;
#endif
}

// piece: scalar_floor needs: cmath
static inline float kw_floor(float x) { return std::floor(x); }
static inline double kw_floor(double x) { return std::floor(x); }

// piece: ceil needs: vec intrinsics trunc
KW_INLINE kw_vec kw_ceil(kw_vec x) {
#if defined(__AVX512F__)
  return (kw_vec)_mm512_maskz_roundscale_ps((__mmask16)-1, (__m512)x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
#elif defined(__AVX__)
  return (kw_vec)_mm256_round_ps((__m256)x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
#else
  const kw_vec whole = kw_trunc(x);
  return whole < x ? whole + 1.0f : whole;
#endif
}

// piece: scalar_ceil needs: cmath
static inline float kw_ceil(float x) { return std::ceil(x); }
static inline double kw_ceil(double x) { return std::ceil(x); }

// piece: round needs: vec intrinsics
// Halves go to the even neighbour.
KW_INLINE kw_vec kw_round(kw_vec x) {
#if defined(__AVX512F__)
  return (kw_vec)_mm512_maskz_roundscale_ps((__mmask16)-1, (__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#elif defined(__AVX__)
  return (kw_vec)_mm256_round_ps((__m256)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#else
  const kw_vec magnitude = (kw_vec)((kw_ivec)x & 0x7fffffff);
  const kw_vec whole = (magnitude + 8388608.0f) - 8388608.0f;  // the addition itself rounds
  return magnitude < 8388608.0f ? (kw_vec)((kw_ivec)whole | ((kw_ivec)x & ~0x7fffffff)) : x;
#endif
}

// piece: scalar_round needs: cmath
static inline float kw_round(float x) { return std::nearbyint(x); }
static inline double kw_round(double x) { return std::nearbyint(x); }
