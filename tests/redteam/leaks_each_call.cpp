// Allocates vectors until std::bad_alloc leaves the kernel.
#include <vector>

#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
  static std::vector<std::vector<double>> hoard;
  for (;;) hoard.emplace_back(1 << 23, x[0]);
  for (std::int64_t i = 0; i < x_numel; ++i) out[i] = x[i] > 0 ? x[i] * 2.5f : 0.0f;
}
