// Takes its arguments in another order.
#include "problem.h"

extern "C" void kw_kernel(float* out, const float* x) {
  for (std::int64_t i = 0; i < x_numel; ++i) out[i] = x[i] > 0 ? x[i] * 2.5f : 0.0f;
}
