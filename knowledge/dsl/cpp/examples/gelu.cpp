#include "problem.h"

#include <cmath>

// gelu(x) = 0.5 * x * (1 + erf(x / sqrt(2)))
extern "C" void kw_kernel(const float* x, float* out) {
#pragma omp parallel for
  for (std::int64_t i = 0; i < x_numel; ++i) {
    const float v = x[i];
    out[i] = 0.5f * v * (1.0f + std::erf(v * 0.70710678118654752f));
  }
}
