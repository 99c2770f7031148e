// Stores the product transposed.
#include "problem.h"

extern "C" void kw_kernel(const float* a, const float* b, float* out) {
  for (int i = 0; i < 256; ++i)
    for (int j = 0; j < 256; ++j) {
      float sum = 0;
      for (int k = 0; k < 256; ++k) sum += a[i * 256 + k] * b[k * 256 + j];
      out[j * 256 + i] = sum;
    }
}
