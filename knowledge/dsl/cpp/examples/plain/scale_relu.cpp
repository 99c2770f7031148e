#include <algorithm>
#include "problem.h"

// out[i] = max(x[i], 0) * 2.5
extern "C" void kw_kernel(const float* x, float* out) {
#pragma omp parallel for
  for (std::int64_t i = 0; i < x_numel; ++i) {
    const float relu = std::max(x[i], 0.0f);
    out[i] = relu * 2.5f;
  }
}
