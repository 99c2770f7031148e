#include <cmath>
#include "problem.h"

// out[i] = 0.5 * x[i] * (1 + erf(x[i] / sqrt(2)))
extern "C" void kw_kernel(const float* x, float* out) {
#pragma omp parallel for
  for (std::int64_t i = 0; i < x_numel; ++i) {
    const float v = x[i];
    out[i] = 0.5f * v * (1.0f + std::erf(v / std::sqrt(2.0f)));
  }
}
