// Three loops, the innermost along contiguous memory.
#include <cstring>

#include "problem.h"

extern "C" void kw_kernel(const float* a, const float* b, float* out) {
  constexpr int n = 256;
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    std::memset(out + i * n, 0, n * sizeof(float));
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j) out[i * n + j] += a[i * n + k] * b[k * n + j];
  }
}
