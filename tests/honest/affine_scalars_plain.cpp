// Scalars of every kind arrive by value.
#include "problem.h"

extern "C" void kw_kernel(const float* x, double scale, std::int64_t offset, bool negate, float* out) {
  const float sign = negate ? -1.0f : 1.0f;
  for (std::int64_t i = 0; i < x_numel; ++i) out[i] = sign * (x[i] * static_cast<float>(scale) + static_cast<float>(offset));
}
