// Non-temporal stores where AVX is there; the fence makes them visible before the call ends.
#include "problem.h"
#if defined(__AVX__)
#include <immintrin.h>
#endif

extern "C" void kw_kernel(const float* x, float* out) {
  std::int64_t i = 0;
#if defined(__AVX__)
  const __m256 zero = _mm256_setzero_ps(), factor = _mm256_set1_ps(2.5f);
  for (; i + 8 <= x_numel; i += 8) _mm256_stream_ps(out + i, _mm256_mul_ps(_mm256_max_ps(_mm256_load_ps(x + i), zero), factor));
  _mm_sfence();
#endif
  for (; i < x_numel; ++i) out[i] = x[i] > 0 ? x[i] * 2.5f : 0.0f;
}
