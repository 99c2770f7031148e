// A simd reduction for each row.
#include "problem.h"

extern "C" void kw_kernel(const float* a, const float* v, float* out) {
#pragma omp parallel for
  for (int i = 0; i < 512; ++i) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int k = 0; k < 771; ++k) sum += a[i * 771 + k] * v[k];
    out[i] = sum;
  }
}
