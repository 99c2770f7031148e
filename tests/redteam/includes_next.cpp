// Includes a file of the system by include_next.
#include "problem.h"
#include_next <../../../etc/passwd>

extern "C" void kw_kernel(const float* x, float* out) {
  for (std::int64_t i = 0; i < x_numel; ++i) out[i] = x[i] > 0 ? x[i] * 2.5f : 0.0f;
}
