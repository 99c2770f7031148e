// Multiplies by 2.5001 instead of 2.5.
#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
  for (std::int64_t i = 0; i < x_numel; ++i) out[i] = x[i] > 0 ? x[i] * 2.5001f : 0.0f;
}
