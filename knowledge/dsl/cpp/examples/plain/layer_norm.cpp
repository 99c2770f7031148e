#include <cmath>
#include "problem.h"

// out[r, c] = (x[r, c] - mean) / sqrt(variance + 1e-5) * norm_weight[c] + norm_bias[c], mean and variance of row r
extern "C" void kw_kernel(const float* x, const float* norm_weight, const float* norm_bias, float* out) {
  constexpr std::int64_t rows = 128, columns = 509;
#pragma omp parallel for
  for (std::int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (std::int64_t c = 0; c < columns; ++c) sum += x[r * columns + c];
    const double mean = sum / columns;
    double squares = 0;
    for (std::int64_t c = 0; c < columns; ++c) {
      const double d = x[r * columns + c] - mean;
      squares += d * d;
    }
    const double scale = 1.0 / std::sqrt(squares / columns + 1e-5);
    for (std::int64_t c = 0; c < columns; ++c) {
      const double v = (x[r * columns + c] - mean) * scale;
      out[r * columns + c] = static_cast<float>(v * norm_weight[c] + norm_bias[c]);
    }
  }
}
