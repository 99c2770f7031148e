// A dot product for each output element.
#include "problem.h"

extern "C" void kw_kernel(const float* x, const float* weight, const float* bias, float* out) {
#pragma omp parallel for collapse(2)
  for (int r = 0; r < 64; ++r) {
    for (int o = 0; o < 192; ++o) {
      float sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int k = 0; k < 256; ++k) sum += x[r * 256 + k] * weight[o * 256 + k];
      sum += bias[o];
      out[r * 192 + o] = sum > 0 ? sum : 0.0f;
    }
  }
}
