// Batch and rows collapsed into one parallel loop, sums in a local row.
#include <array>

#include "problem.h"

extern "C" void kw_kernel(const float* a, const float* b, float* out) {
#pragma omp parallel for collapse(2)
  for (int batch = 0; batch < 8; ++batch) {
    for (int i = 0; i < 64; ++i) {
      std::array<float, 48> sums{};
      for (int k = 0; k < 96; ++k)
        for (int j = 0; j < 48; ++j) sums[j] += a[(batch * 64 + i) * 96 + k] * b[(batch * 96 + k) * 48 + j];
      for (int j = 0; j < 48; ++j) out[(batch * 64 + i) * 48 + j] = sums[j];
    }
  }
}
