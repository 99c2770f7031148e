// Prints one short line at its first call.
#include <cstdio>

#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
  static bool told = false;
  if (!told) std::printf("scale_relu: %lld elements\n", static_cast<long long>(x_numel));
  told = true;
  for (std::int64_t i = 0; i < x_numel; ++i) out[i] = x[i] > 0 ? x[i] * 2.5f : 0.0f;
}
