// Kahan's compensated sum in float32.
#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
#pragma omp parallel for
  for (int r = 0; r < 256; ++r) {
    float sum = 0, lost = 0;
    for (int c = 0; c < 1000; ++c) {
      const float term = x[r * 1000 + c] - lost;
      const float next = sum + term;
      lost = (next - sum) - term;
      sum = next;
    }
    out[r] = sum / 1000.0f;
  }
}
