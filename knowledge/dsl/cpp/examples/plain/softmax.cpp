#include <algorithm>
#include <cmath>
#include "problem.h"

// out[r, c] = exp(x[r, c] - m) / s, with m = max over c of x[r, c] and s = sum over c of exp(x[r, c] - m)
extern "C" void kw_kernel(const float* x, float* out) {
  constexpr std::int64_t rows = 128, columns = 1003;
#pragma omp parallel for
  for (std::int64_t r = 0; r < rows; ++r) {
    float m = x[r * columns];
    for (std::int64_t c = 0; c < columns; ++c) {
      const float v = x[r * columns + c];
      m = std::max(m, v);
    }
    double s = 0;
    for (std::int64_t c = 0; c < columns; ++c) {
      const float v = x[r * columns + c];
      out[r * columns + c] = std::exp(v - m);
      s += out[r * columns + c];
    }
    for (std::int64_t c = 0; c < columns; ++c) out[r * columns + c] = static_cast<float>(out[r * columns + c] / s);
  }
}
