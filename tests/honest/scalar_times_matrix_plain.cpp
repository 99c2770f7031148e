// The scalar arrives by value as a double.
#include "problem.h"

extern "C" void kw_kernel(const float* x, double s, float* out) {
  const auto factor = static_cast<float>(s);
#pragma omp parallel for simd
  for (std::int64_t i = 0; i < x_numel; ++i) out[i] = x[i] * factor;
}
