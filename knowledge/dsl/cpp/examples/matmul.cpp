#include "problem.h"

#include <algorithm>

// kw:knob KW_ROWS 1 2 4 8
#ifndef KW_ROWS
#define KW_ROWS 4
#endif

// A few rows of the output at a time, the innermost loop over contiguous columns.
extern "C" void kw_kernel(const float* a, const float* b, float* out) {
  constexpr std::int64_t m = a_shape[0], k = a_shape[1], n = b_shape[1];
#pragma omp parallel for
  for (std::int64_t i0 = 0; i0 < m; i0 += KW_ROWS) {
    const std::int64_t last = std::min<std::int64_t>(i0 + KW_ROWS, m);
    std::fill(out + i0 * n, out + last * n, 0.0f);
    for (std::int64_t p = 0; p < k; ++p) {
      for (std::int64_t i = i0; i < last; ++i) {
        const float factor = a[i * k + p];
#pragma omp simd
        for (std::int64_t j = 0; j < n; ++j) out[i * n + j] += factor * b[p * n + j];
      }
    }
  }
}
