// Vectors of floats for generated kernels, on the vector extensions of GCC and clang: types, memory, lanes, comparisons.
// This file is material to paste: a kernel takes the pieces that it uses and what they need, each once, in the order of the needs.
// A piece runs from its line "piece: NAME needs: ..." to the next such line. The overload for vectors of kw_NAME is in piece NAME,
// the one for scalars in scalar_NAME, so that the same expression works for both. Nothing here branches on data or keeps state.
#pragma once

// piece: vec needs:
#define KW_INLINE static inline __attribute__((always_inline))
#if defined(__AVX512F__)
constexpr int kw_lanes = 16;
#elif defined(__AVX__)
constexpr int kw_lanes = 8;
#else
constexpr int kw_lanes = 4;
#endif
typedef float kw_vec __attribute__((vector_size(4 * kw_lanes)));
typedef int kw_ivec __attribute__((vector_size(4 * kw_lanes)));
typedef unsigned kw_uvec __attribute__((vector_size(4 * kw_lanes)));  // bits of floats, which may overflow
typedef kw_ivec kw_mask;  // what comparisons of vectors give: all bits of a lane, or none

// piece: intrinsics needs:
#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

// piece: cmath needs:
#include <cmath>

// piece: load needs: vec
// At any address of a float.
KW_INLINE kw_vec kw_load(const float* p) {
  kw_vec v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

// piece: store needs: vec
KW_INLINE void kw_store(float* p, kw_vec v) { __builtin_memcpy(p, &v, sizeof v); }

// piece: load_int needs: vec
KW_INLINE kw_ivec kw_load_int(const int* p) {
  kw_ivec v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

// piece: store_int needs: vec
KW_INLINE void kw_store_int(int* p, kw_ivec v) { __builtin_memcpy(p, &v, sizeof v); }

// piece: load_mask needs: vec intrinsics
// As many bools as there are lanes.
KW_INLINE kw_mask kw_load_mask(const bool* p) {
  // g++ takes the bytes apart one by one where it is left to it.
#if defined(__AVX512F__)
  return (kw_ivec)_mm512_maskz_cvtepi8_epi32((__mmask16)-1, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p))) != 0;
#elif defined(__AVX2__)
  return (kw_ivec)_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))) != 0;
#else
  typedef signed char bytes __attribute__((vector_size(kw_lanes)));
  bytes b;
  __builtin_memcpy(&b, p, sizeof b);
  return __builtin_convertvector(b, kw_ivec) != 0;
#endif
}

// piece: stream needs: vec intrinsics
// Past the caches. p is a multiple of sizeof(kw_vec); kw_stream_fence() comes before another thread may read it.
KW_INLINE void kw_stream(float* p, kw_vec v) {
#if defined(__AVX512F__)
  _mm512_stream_ps(p, (__m512)v);
#elif defined(__AVX__)
  _mm256_stream_ps(p, (__m256)v);
#elif defined(__SSE2__)
  _mm_stream_ps(p, (__m128)v);
#else
  __builtin_memcpy(p, &v, sizeof v);
#endif
}
KW_INLINE void kw_stream_fence() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

// piece: splat needs: vec
KW_INLINE kw_vec kw_splat(float x) { return x - kw_vec{}; }  // x - 0 is x, also for -0

// piece: splat_int needs: vec
KW_INLINE kw_ivec kw_splat_int(int x) { return x - kw_ivec{}; }

// piece: iota_int needs: vec
KW_INLINE kw_ivec kw_iota_int() {
#if defined(__AVX512F__)
  return kw_ivec{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#elif defined(__AVX__)
  return kw_ivec{0, 1, 2, 3, 4, 5, 6, 7};
#else
  return kw_ivec{0, 1, 2, 3};
#endif
}

// piece: iota needs: vec iota_int
// 0, 1, 2, ... as floats.
KW_INLINE kw_vec kw_iota() { return __builtin_convertvector(kw_iota_int(), kw_vec); }

// piece: first needs: vec iota_int
// The mask of the first n lanes.
KW_INLINE kw_mask kw_first(int n) { return kw_iota_int() < n; }

// piece: gather needs: vec
// p[0], p[stride], p[2 * stride], ...
KW_INLINE kw_vec kw_gather(const float* p, long stride) {
  const long s = stride;
#if defined(__AVX512F__)
  return kw_vec{p[0],     p[s],     p[2 * s],  p[3 * s],  p[4 * s],  p[5 * s],  p[6 * s],  p[7 * s],
                p[8 * s], p[9 * s], p[10 * s], p[11 * s], p[12 * s], p[13 * s], p[14 * s], p[15 * s]};
#elif defined(__AVX__)
  return kw_vec{p[0], p[s], p[2 * s], p[3 * s], p[4 * s], p[5 * s], p[6 * s], p[7 * s]};
#else
  return kw_vec{p[0], p[s], p[2 * s], p[3 * s]};
#endif
}

// piece: pick needs: vec
// p[at[0] * stride], p[at[1] * stride + across], p[at[2] * stride + 2 * across], ...
KW_INLINE kw_vec kw_pick(const float* p, const std::int64_t* at, long stride, long across) {
  const auto pick = [=](int lane) { return p[at[lane] * stride + lane * across]; };
#if defined(__AVX512F__)
  return kw_vec{pick(0), pick(1), pick(2),  pick(3),  pick(4),  pick(5),  pick(6),  pick(7),
                pick(8), pick(9), pick(10), pick(11), pick(12), pick(13), pick(14), pick(15)};
#elif defined(__AVX__)
  return kw_vec{pick(0), pick(1), pick(2), pick(3), pick(4), pick(5), pick(6), pick(7)};
#else
  return kw_vec{pick(0), pick(1), pick(2), pick(3)};
#endif
}

// piece: scatter needs: vec
// The first lanes to p[0], p[stride], p[2 * stride], ...
KW_INLINE void kw_scatter(float* p, long stride, kw_vec v, int count = kw_lanes) {
#pragma GCC unroll 16
  for (int i = 0; i < kw_lanes; ++i)
    if (i < count) p[i * stride] = v[i];
}

// piece: load_part needs: vec intrinsics first
// The first n floats, 0 in the other lanes; reads no memory past them.
KW_INLINE kw_vec kw_load_part(const float* p, int n) {
#if defined(__AVX512F__)
  return (kw_vec)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
#elif defined(__AVX__)
  return (kw_vec)_mm256_maskload_ps(p, (__m256i)kw_first(n));
#else
  kw_vec v{};
  for (int i = 0; i < n; ++i) v[i] = p[i];
  return v;
#endif
}

// piece: store_part needs: vec intrinsics first
// The first n lanes; touches no memory past them.
KW_INLINE void kw_store_part(float* p, kw_vec v, int n) {
#if defined(__AVX512F__)
  _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), (__m512)v);
#elif defined(__AVX__)
  _mm256_maskstore_ps(p, (__m256i)kw_first(n), (__m256)v);
#else
  for (int i = 0; i < n; ++i) p[i] = v[i];
#endif
}

// piece: select needs: vec
// a where the mask is set, else b.
KW_INLINE kw_vec kw_select(kw_mask mask, kw_vec a, kw_vec b) { return mask ? a : b; }

// piece: scalar_select needs:
template <class T>
static inline T kw_select(bool condition, T a, T b) {
  return condition ? a : b;
}

// piece: select_int needs: vec
KW_INLINE kw_ivec kw_select_int(kw_mask mask, kw_ivec a, kw_ivec b) { return mask ? a : b; }

// piece: not needs: vec
KW_INLINE kw_mask kw_not(kw_mask mask) { return ~mask; }

// piece: scalar_not needs:
static inline bool kw_not(bool condition) { return !condition; }

// piece: isnan needs: vec
KW_INLINE kw_mask kw_isnan(kw_vec x) { return x != x; }

// piece: scalar_isnan needs:
static inline bool kw_isnan(float x) { return x != x; }
static inline bool kw_isnan(double x) { return x != x; }

// piece: any needs: vec intrinsics
// Whether the mask is set in some lane.
KW_INLINE bool kw_any(kw_mask mask) {
#if defined(__AVX512F__)
  return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
#elif defined(__AVX__)
  return _mm256_movemask_ps((__m256)mask) != 0;
#elif defined(__SSE2__)
  return _mm_movemask_ps((__m128)mask) != 0;
#else
  return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
#endif
}

// piece: convert needs: vec
// Between floats and whole numbers; towards zero.
KW_INLINE kw_ivec kw_to_int(kw_vec x) { return __builtin_convertvector(x, kw_ivec); }
KW_INLINE kw_vec kw_from_int(kw_ivec x) { return __builtin_convertvector(x, kw_vec); }

// piece: each needs: vec
// A function of one float on every lane.
template <class Function>
KW_INLINE kw_vec kw_each(kw_vec x, Function function) {
  kw_vec y = x;
  for (int i = 0; i < kw_lanes; ++i) y[i] = function(x[i]);
  return y;
}

// piece: at_most needs: vec intrinsics
// x, or the limit where x is above it; NaN stays NaN.
KW_INLINE kw_vec kw_at_most(kw_vec x, kw_vec limit) {
#if defined(__AVX512F__)
  return (kw_vec)_mm512_maskz_min_ps((__mmask16)-1, (__m512)limit, (__m512)x);
#elif defined(__AVX__)
  return (kw_vec)_mm256_min_ps((__m256)limit, (__m256)x);
#elif defined(__SSE2__)
  return (kw_vec)_mm_min_ps((__m128)limit, (__m128)x);
#elif defined(__ARM_NEON) && defined(__aarch64__)
  return (kw_vec)vminq_f32((float32x4_t)limit, (float32x4_t)x);
#else
  return limit < x ? limit : x;
#endif
}

// piece: at_least needs: vec intrinsics
KW_INLINE kw_vec kw_at_least(kw_vec x, kw_vec limit) {
#if defined(__AVX512F__)
  return (kw_vec)_mm512_maskz_max_ps((__mmask16)-1, (__m512)limit, (__m512)x);
#elif defined(__AVX__)
  return (kw_vec)_mm256_max_ps((__m256)limit, (__m256)x);
#elif defined(__SSE2__)
  return (kw_vec)_mm_max_ps((__m128)limit, (__m128)x);
#elif defined(__ARM_NEON) && defined(__aarch64__)
  return (kw_vec)vmaxq_f32((float32x4_t)limit, (float32x4_t)x);
#else
  return limit > x ? limit : x;
#endif
}

// piece: maximum needs: vec at_least
// NaN where either is NaN.
KW_INLINE kw_vec kw_maximum(kw_vec a, kw_vec b) {
  const kw_vec greater = kw_at_least(b, a);  // NaN where b is
  return a == a ? greater : a;
}

// piece: scalar_maximum needs:
template <class T>
static inline T kw_maximum(T a, T b) {
  return a > b || a != a ? a : b;
}

// piece: minimum needs: vec at_most
// NaN where either is NaN.
KW_INLINE kw_vec kw_minimum(kw_vec a, kw_vec b) {
  const kw_vec less = kw_at_most(b, a);  // NaN where b is
  return a == a ? less : a;
}

// piece: scalar_minimum needs:
template <class T>
static inline T kw_minimum(T a, T b) {
  return a < b || a != a ? a : b;
}

// piece: relu needs: vec at_least
// NaN stays NaN.
KW_INLINE kw_vec kw_relu(kw_vec x) { return kw_at_least(x, kw_vec{}); }

// piece: scalar_relu needs:
template <class T>
static inline T kw_relu(T x) {
  return x < T(0) ? T(0) : x;
}

// piece: quads needs: vec
// A vector as quarters or halves or whole of four lanes: what horizontal operations begin with.
typedef float kw_quad __attribute__((vector_size(16)));
struct kw_quads {
  kw_quad part[kw_lanes / 4];
};
KW_INLINE kw_quads kw_split(kw_vec x) {
  kw_quads quads;
  __builtin_memcpy(&quads, &x, sizeof x);
  return quads;
}

// piece: sum needs: vec quads
// Of all lanes, as a tree.
KW_INLINE float kw_sum(kw_vec x) {
  const kw_quads q = kw_split(x);
  kw_quad s = q.part[0];
  for (int i = 1; i < kw_lanes / 4; ++i) s += q.part[i];
  return (s[0] + s[2]) + (s[1] + s[3]);
}

// piece: prod needs: vec quads
KW_INLINE float kw_prod(kw_vec x) {
  const kw_quads q = kw_split(x);
  kw_quad s = q.part[0];
  for (int i = 1; i < kw_lanes / 4; ++i) s *= q.part[i];
  return (s[0] * s[2]) * (s[1] * s[3]);
}

// piece: max needs: vec quads
// The greatest lane; NaN if there is one.
KW_INLINE float kw_max(kw_vec x) {
  const kw_quads q = kw_split(x);
  kw_quad s = q.part[0];
  for (int i = 1; i < kw_lanes / 4; ++i) s = ((q.part[i] > s) | (q.part[i] != q.part[i])) ? q.part[i] : s;
  const kw_quad far = {s[2], s[3], s[0], s[1]};
  s = ((far > s) | (far != far)) ? far : s;
  const kw_quad near = {s[1], s[0], s[3], s[2]};
  s = ((near > s) | (near != near)) ? near : s;
  return s[0];
}

// piece: min needs: vec quads
// The least lane; NaN if there is one.
KW_INLINE float kw_min(kw_vec x) {
  const kw_quads q = kw_split(x);
  kw_quad s = q.part[0];
  for (int i = 1; i < kw_lanes / 4; ++i) s = ((q.part[i] < s) | (q.part[i] != q.part[i])) ? q.part[i] : s;
  const kw_quad far = {s[2], s[3], s[0], s[1]};
  s = ((far < s) | (far != far)) ? far : s;
  const kw_quad near = {s[1], s[0], s[3], s[2]};
  s = ((near < s) | (near != near)) ? near : s;
  return s[0];
}
