// Both outputs in one loop, through sections of a parallel region.
#include "problem.h"

extern "C" void kw_kernel(const float* x, const float* y, float* out0, float* out1) {
#pragma omp parallel sections
  {
#pragma omp section
    for (int i = 0; i < 13000; ++i) out0[i] = x[i] + y[i];
#pragma omp section
    for (int i = 0; i < 13000; ++i) out1[i] = x[i] - y[i];
  }
}
