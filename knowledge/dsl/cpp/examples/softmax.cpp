#include "problem.h"

#include <algorithm>
#include <cmath>

// Rows of a matrix: the maximum, then exponentials and their sum, then one scaling.
extern "C" void kw_kernel(const float* x, float* out) {
  constexpr std::int64_t rows = x_shape[0], columns = x_shape[1];
#pragma omp parallel for
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * columns;
    float* result = out + r * columns;
    float largest = in[0];
    for (std::int64_t c = 1; c < columns; ++c) largest = std::max(largest, in[c]);
    double sum = 0;
    for (std::int64_t c = 0; c < columns; ++c) {
      result[c] = std::exp(in[c] - largest);
      sum += result[c];
    }
    const float scale = static_cast<float>(1.0 / sum);
    for (std::int64_t c = 0; c < columns; ++c) result[c] *= scale;
  }
}
