#include "problem.h"

// out[r, c] = sum over j up to c of x[r, j]
extern "C" void kw_kernel(const float* x, float* out) {
  constexpr std::int64_t rows = 64, columns = 500;
#pragma omp parallel for
  for (std::int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (std::int64_t c = 0; c < columns; ++c) {
      sum += x[r * columns + c];
      out[r * columns + c] = static_cast<float>(sum);
    }
  }
}
