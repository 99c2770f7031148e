// A product of two square matrices, row by row; KW_EXTRA_ROWS of its rows are computed once more into memory that nobody reads,
// so that how much slower it is follows from a count.
#include "problem.h"

#ifndef KW_EXTRA_ROWS
#define KW_EXTRA_ROWS 0
#endif

namespace {
constexpr int kN = static_cast<int>(a_shape[0]);

void one_row(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out) {
  for (int j = 0; j < kN; ++j) out[j] = 0;
  for (int k = 0; k < kN; ++k)
    for (int j = 0; j < kN; ++j) out[j] += a[k] * b[k * kN + j];
}
}  // namespace

// Visible to other translation units as far as the compiler knows, so that writes to it are kept.
float scratch[KW_EXTRA_ROWS + 1][kN];

extern "C" void kw_kernel(const float* a, const float* b, float* out) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < kN + KW_EXTRA_ROWS; ++i) {
    const int row = i % kN;
    one_row(a + row * kN, b, i < kN ? out + row * kN : scratch[row]);
  }
}
