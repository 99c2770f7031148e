// Pairwise summation by recursion.
#include "problem.h"

namespace {
double pairwise(const double* values, int n) {
  if (n > 16) return pairwise(values, n / 2) + pairwise(values + n / 2, n - n / 2);
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += values[i];
  return sum;
}
}  // namespace

extern "C" void kw_kernel(const double* x, double* out) {
#pragma omp parallel for
  for (int r = 0; r < 64; ++r) out[r] = pairwise(x + r * 900, 900);
}
