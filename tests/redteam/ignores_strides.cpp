// Reads the input's memory in order, whatever its strides.
#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
  for (std::int64_t i = 0; i < x_numel; ++i) out[i] = x[i] * 2.0f + 1.0f;
}
