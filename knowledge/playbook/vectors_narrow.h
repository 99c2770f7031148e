// Numbers of 16 bits and bytes as vectors of floats: they lie in memory as they are, and are computed with as float32.
// Pieces to paste; vectors.h says how. kw_f16 and kw_bf16 are problem.h's.
#pragma once

#include <cstdint>

#include "vectors.h"

// piece: narrow_loads needs: vec
// Apart in memory, and the first n, 0 in the other lanes: through memory of the kernel's own.
#define KW_NARROW_LOADS(type)                                  \
  KW_INLINE kw_vec kw_gather(const type* p, long stride) {     \
    type all[kw_lanes];                                        \
    for (int i = 0; i < kw_lanes; ++i) all[i] = p[i * stride]; \
    return kw_load(all);                                       \
  }                                                            \
  KW_INLINE kw_vec kw_load_part(const type* p, int n) {        \
    type all[kw_lanes] = {};                                   \
    for (int i = 0; i < n; ++i) all[i] = p[i];                 \
    return kw_load(all);                                       \
  }

// piece: narrow_stores needs: vec
#define KW_NARROW_STORES(type)                                                      \
  KW_INLINE void kw_store_part(type* p, kw_vec v, int n) {                          \
    type all[kw_lanes];                                                             \
    kw_store(all, v);                                                               \
    for (int i = 0; i < n; ++i) p[i] = all[i];                                      \
  }                                                                                 \
  KW_INLINE void kw_scatter(type* p, long stride, kw_vec v, int count = kw_lanes) { \
    type all[kw_lanes];                                                             \
    kw_store(all, v);                                                               \
    for (int i = 0; i < count; ++i) p[i * stride] = all[i];                         \
  }

// piece: load_f16 needs: vec intrinsics narrow_loads
KW_INLINE kw_vec kw_load(const kw_f16* p) {
#if defined(__AVX512F__)
  return (kw_vec)_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
#elif defined(__AVX__) && defined(__F16C__)
  return (kw_vec)_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
#else
  kw_vec v;
  for (int i = 0; i < kw_lanes; ++i) v[i] = kw_to_float(p[i]);
  return v;
#endif
}
KW_NARROW_LOADS(kw_f16)

// piece: gather_f16 needs: load_f16

// piece: load_part_f16 needs: load_f16

// piece: store_f16 needs: vec intrinsics narrow_stores
KW_INLINE void kw_store(kw_f16* p, kw_vec v) {
#if defined(__AVX512F__)
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph((__m512)v, _MM_FROUND_TO_NEAREST_INT));
#elif defined(__AVX__) && defined(__F16C__)
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT));
#else
  for (int i = 0; i < kw_lanes; ++i) p[i] = kw_f16_from_float(v[i]);
#endif
}
KW_NARROW_STORES(kw_f16)

// piece: store_part_f16 needs: store_f16

// piece: scatter_f16 needs: store_f16

// piece: rounded_f16 needs: load_f16 store_f16
KW_INLINE kw_vec kw_rounded_f16(kw_vec v) {
  kw_f16 all[kw_lanes];
  kw_store(all, v);
  return kw_load(all);
}

// piece: load_bf16 needs: vec narrow_loads
// The upper half of a float.
KW_INLINE kw_vec kw_load(const kw_bf16* p) {
  typedef unsigned short halves __attribute__((vector_size(2 * kw_lanes)));
  halves bits;
  __builtin_memcpy(&bits, p, sizeof bits);
  return (kw_vec)(__builtin_convertvector(bits, kw_uvec) << 16);
}
KW_NARROW_LOADS(kw_bf16)

// piece: gather_bf16 needs: load_bf16

// piece: load_part_bf16 needs: load_bf16

// piece: rounded_bf16 needs: vec
// To nearest, ties to even; a NaN stays one.
KW_INLINE kw_vec kw_rounded_bf16(kw_vec v) {
  const kw_uvec bits = (kw_uvec)v;
  const kw_uvec rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) & 0xffff0000u;
  return v == v ? (kw_vec)rounded : (kw_vec)((bits | 0x400000u) & 0xffff0000u);
}

// piece: store_bf16 needs: vec rounded_bf16 narrow_stores
KW_INLINE void kw_store(kw_bf16* p, kw_vec v) {
  typedef unsigned short halves __attribute__((vector_size(2 * kw_lanes)));
  const halves bits = __builtin_convertvector((kw_uvec)kw_rounded_bf16(v) >> 16, halves);
  __builtin_memcpy(p, &bits, sizeof bits);
}
KW_NARROW_STORES(kw_bf16)

// piece: store_part_bf16 needs: store_bf16

// piece: scatter_bf16 needs: store_bf16

// piece: load_i8 needs: vec intrinsics narrow_loads
// g++ takes bytes apart one by one where it is left to it.
KW_INLINE kw_vec kw_load(const std::int8_t* p) {
#if defined(__AVX512F__)
  return (kw_vec)_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
#elif defined(__AVX2__)
  return (kw_vec)_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
#else
  kw_vec v;
  for (int i = 0; i < kw_lanes; ++i) v[i] = p[i];
  return v;
#endif
}
KW_NARROW_LOADS(std::int8_t)

// piece: gather_i8 needs: load_i8

// piece: load_part_i8 needs: load_i8

// piece: load_u8 needs: vec intrinsics narrow_loads
KW_INLINE kw_vec kw_load(const std::uint8_t* p) {
#if defined(__AVX512F__)
  return (kw_vec)_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
#elif defined(__AVX2__)
  return (kw_vec)_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
#else
  kw_vec v;
  for (int i = 0; i < kw_lanes; ++i) v[i] = p[i];
  return v;
#endif
}
KW_NARROW_LOADS(std::uint8_t)

// piece: gather_u8 needs: load_u8

// piece: load_part_u8 needs: load_u8

// piece: load_i16 needs: vec intrinsics narrow_loads
KW_INLINE kw_vec kw_load(const std::int16_t* p) {
#if defined(__AVX512F__)
  return (kw_vec)_mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
#elif defined(__AVX2__)
  return (kw_vec)_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
#else
  kw_vec v;
  for (int i = 0; i < kw_lanes; ++i) v[i] = p[i];
  return v;
#endif
}
KW_NARROW_LOADS(std::int16_t)

// piece: gather_i16 needs: load_i16

// piece: load_part_i16 needs: load_i16
