#include "problem.h"
#include <algorithm>

// out[i] = max(x[i], 0) * 2.5
extern "C" void kw_kernel(const float* x, float* out) {
  constexpr std::int64_t elements = 65539;
#pragma omp parallel for
  for (std::int64_t i = 0; i < elements; ++i) {
    const float relu = std::max(x[i], 0.0f);
    out[i] = relu * 2.5f;
  }
}
