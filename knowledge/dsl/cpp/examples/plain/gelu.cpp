#include "problem.h"
#include <cmath>

// out[i] = 0.5 * x[i] * (1 + erf(x[i] / sqrt(2)))
extern "C" void kw_kernel(const float* x, float* out) {
  constexpr std::int64_t elements = 64064;
#pragma omp parallel for
  for (std::int64_t i = 0; i < elements; ++i) {
    const float v = x[i];
    out[i] = 0.5f * v * (1.0f + std::erf(v / std::sqrt(2.0f)));
  }
}
