#include "problem.h"

#include <algorithm>

// nn.Linear: out = x @ weight.T + bias. Rows of x and rows of the weight are both contiguous: a dot product of the two.
extern "C" void kw_kernel(const float* x, const float* linear_weight, const float* linear_bias, float* out) {
  constexpr std::int64_t rows = x_shape[0], inner = x_shape[1], columns = out_shape[1];
#pragma omp parallel for collapse(2)
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const float* left = x + r * inner;
      const float* right = linear_weight + c * inner;
      float sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::int64_t p = 0; p < inner; ++p) sum += left[p] * right[p];
      out[r * columns + c] = std::max(sum + linear_bias[c], 0.0f);
    }
  }
}
