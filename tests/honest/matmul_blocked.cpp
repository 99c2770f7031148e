// Cache blocking; the block sizes are knobs.
#include <algorithm>

#include "problem.h"

// kw:knob KW_TILE_M 16 32 64
#ifndef KW_TILE_M
#define KW_TILE_M 32
#endif
// kw:knob KW_TILE_K 32 64 128
#ifndef KW_TILE_K
#define KW_TILE_K 64
#endif

extern "C" void kw_kernel(const float* a, const float* b, float* out) {
  constexpr int n = 256;
#pragma omp parallel for schedule(static)
  for (int i0 = 0; i0 < n; i0 += KW_TILE_M) {
    std::fill(out + i0 * n, out + std::min(i0 + KW_TILE_M, n) * n, 0.0f);
    for (int k0 = 0; k0 < n; k0 += KW_TILE_K)
      for (int i = i0; i < std::min(i0 + KW_TILE_M, n); ++i)
        for (int k = k0; k < std::min(k0 + KW_TILE_K, n); ++k) {
          const float factor = a[i * n + k];
#pragma omp simd
          for (int j = 0; j < n; ++j) out[i * n + j] += factor * b[k * n + j];
        }
  }
}
