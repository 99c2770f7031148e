// Right, but reads a page past the end of its input.
#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
  for (std::int64_t i = 0; i < x_numel; ++i) out[i] = x[i] > 0 ? x[i] * 2.5f : 0.0f;
  volatile float beyond = x[x_numel + 1024];
  (void)beyond;
}
