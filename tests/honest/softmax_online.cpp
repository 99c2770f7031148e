// Online softmax: one pass finds the maximum and the sum, rescaled whenever the maximum grows.
#include <cmath>

#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
  constexpr std::int64_t rows = x_shape[0], columns = x_shape[1];
#pragma omp parallel for schedule(static)
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * columns;
    float largest = in[0];
    double sum = 1;
    for (std::int64_t c = 1; c < columns; ++c) {
      if (in[c] > largest) {
        sum = sum * std::exp(largest - in[c]) + 1;
        largest = in[c];
      } else {
        sum += std::exp(in[c] - largest);
      }
    }
    const float scale = static_cast<float>(1 / sum);
    for (std::int64_t c = 0; c < columns; ++c) out[r * columns + c] = std::exp(in[c] - largest) * scale;
  }
}
