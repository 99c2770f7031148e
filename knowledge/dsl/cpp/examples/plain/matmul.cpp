#include "problem.h"

// out[i, j] = sum over k of a[i, k] * b[k, j]
extern "C" void kw_kernel(const float* a, const float* b, float* out) {
  constexpr std::int64_t M = 256, N = 256, K = 256;
#pragma omp parallel for
  for (std::int64_t i = 0; i < M; ++i) {
    for (std::int64_t j = 0; j < N; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < K; ++k) sum += a[i * K + k] * b[k * N + j];
      out[i * N + j] = static_cast<float>(sum);
    }
  }
}
