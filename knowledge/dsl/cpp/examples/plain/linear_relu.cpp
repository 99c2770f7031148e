#include <algorithm>
#include "problem.h"

// out[i, j] = max(sum over k of x[i, k] * linear_weight[j, k] + linear_bias[j], 0)
extern "C" void kw_kernel(const float* x, const float* linear_weight, const float* linear_bias, float* out) {
  constexpr std::int64_t M = 64, N = 192, K = 256;
#pragma omp parallel for
  for (std::int64_t i = 0; i < M; ++i) {
    for (std::int64_t j = 0; j < N; ++j) {
      double sum = linear_bias[j];
      for (std::int64_t k = 0; k < K; ++k) sum += x[i * K + k] * linear_weight[j * K + k];
      out[i * N + j] = std::max(static_cast<float>(sum), 0.0f);
    }
  }
}
