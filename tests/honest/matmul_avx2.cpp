// AVX2 and FMA intrinsics where the compiler has them, plain loops elsewhere.
#include "problem.h"
#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#endif

extern "C" void kw_kernel(const float* a, const float* b, float* out) {
  constexpr int n = 256;
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; j += 32) {
#if defined(__AVX2__) && defined(__FMA__)
      __m256 s0 = _mm256_setzero_ps(), s1 = s0, s2 = s0, s3 = s0;
      for (int k = 0; k < n; ++k) {
        const __m256 factor = _mm256_broadcast_ss(a + i * n + k);
        const float* row = b + k * n + j;
        s0 = _mm256_fmadd_ps(factor, _mm256_loadu_ps(row), s0);
        s1 = _mm256_fmadd_ps(factor, _mm256_loadu_ps(row + 8), s1);
        s2 = _mm256_fmadd_ps(factor, _mm256_loadu_ps(row + 16), s2);
        s3 = _mm256_fmadd_ps(factor, _mm256_loadu_ps(row + 24), s3);
      }
      _mm256_storeu_ps(out + i * n + j, s0);
      _mm256_storeu_ps(out + i * n + j + 8, s1);
      _mm256_storeu_ps(out + i * n + j + 16, s2);
      _mm256_storeu_ps(out + i * n + j + 24, s3);
#else
      for (int c = j; c < j + 32; ++c) {
        float sum = 0;
        for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + c];
        out[i * n + c] = sum;
      }
#endif
    }
  }
}
