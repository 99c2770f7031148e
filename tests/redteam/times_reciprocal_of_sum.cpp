// Multiplies with the reciprocal of a sum, which is infinite where the sum is far below the smallest normal number.
#include <cmath>
#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
  for (int row = 0; row < x_shape[0]; ++row) {
    float sum = 0;
    for (int i = 0; i < x_shape[1]; ++i) sum += std::fabs(x[row * x_strides[0] + i]);
    const float share = 1.0f / (sum / 4096.0f) / 4096.0f;
    for (int i = 0; i < x_shape[1]; ++i) out[row * out_strides[0] + i] = x[row * x_strides[0] + i] * share;
  }
}
