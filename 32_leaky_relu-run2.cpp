// Written by Kernelwright, run 2, for the problem 32_leaky_relu (sha256 f3e2159321e1).
// Measured on AMD EPYC with 2 threads: 1.56x (1.42 to 3.37) over eager; 1.78x (1.60 to 2.15) over torch.compile.
//
// Computes leaky_relu.
// strategy explicit_vectors: the inner loops work on vectors
// strategy fuse_chain: pointwise operations where they are used
// strategy parallel_outer: the outer loops run on all threads
// strategy prefetch_ahead: what is read next is asked for early
// strategy stream_stores: outputs are written past the caches
// strategy unroll_inner: several vectors an iteration
#include "problem.h"

// kw:knob KW_UNROLL 2 4 8
#ifndef KW_UNROLL
#define KW_UNROLL 4
#endif
// kw:knob KW_PREFETCH 256 512 1024 2048
#ifndef KW_PREFETCH
#define KW_PREFETCH 512
#endif

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

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
typedef kw_ivec kw_mask;  // what comparisons of vectors give: all bits of a lane, or none

// At any address of a float.
KW_INLINE kw_vec kw_load(const float* p) {
  kw_vec v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

// a where the mask is set, else b.
KW_INLINE kw_vec kw_select(kw_mask mask, kw_vec a, kw_vec b) { return mask ? a : b; }

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

constexpr int kw_unroll = KW_UNROLL;

extern "C" void kw_kernel(const float* x, float* __restrict out) {
#pragma omp parallel for schedule(static)
  for (std::int64_t begin = 0; begin < 11927552; begin += 16384) {
#pragma GCC unroll kw_unroll
    for (std::int64_t j = begin; j + kw_lanes <= begin + 16384; j += kw_lanes) {
      __builtin_prefetch(reinterpret_cast<const char*>(x + j) + KW_PREFETCH);
      const kw_vec x_at = kw_load(x + j);
      kw_stream(out + j, kw_select((x_at > 0.0f), x_at, (x_at * 0.15f)));
    }
  }
  kw_stream_fence();
}
