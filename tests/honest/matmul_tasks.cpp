// Recursive quarters as OpenMP tasks; the taskgroup ends before the call does.
#include "problem.h"

namespace {
constexpr int kN = 256;

void block(const float* a, const float* b, float* out, int rows, int columns) {
  if (rows > 64) {
#pragma omp task
    block(a, b, out, rows / 2, columns);
    block(a + rows / 2 * kN, b, out + rows / 2 * kN, rows / 2, columns);
    return;
  }
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) out[i * kN + j] = 0;
    for (int k = 0; k < kN; ++k)
      for (int j = 0; j < columns; ++j) out[i * kN + j] += a[i * kN + k] * b[k * kN + j];
  }
}
}  // namespace

extern "C" void kw_kernel(const float* a, const float* b, float* out) {
#pragma omp parallel
#pragma omp single nowait
#pragma omp taskgroup
  for (int j = 0; j < kN; j += 128) {
#pragma omp task firstprivate(j)
    block(a, b + j, out + j, kN, 128);
  }
}
