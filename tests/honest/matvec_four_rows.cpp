// Four rows at a time, so that each element of the vector is loaded once for four products.
#include "problem.h"

namespace {
template <int kRows>
void rows_times_vector(const float* a, const float* v, float* out) {
  float sums[kRows][8] = {};
  const auto step = [&](int k, int lane) {
    for (int r = 0; r < kRows; ++r) sums[r][lane] += a[r * 771 + k] * v[k];
  };
  int k = 0;
  for (; k + 8 <= 771; k += 8)
    for (int lane = 0; lane < 8; ++lane) step(k + lane, lane);
  for (; k < 771; ++k) step(k, 0);
  for (int r = 0; r < kRows; ++r) {
    float sum = 0;
    for (float lane : sums[r]) sum += lane;
    out[r] = sum;
  }
}
}  // namespace

extern "C" void kw_kernel(const float* a, const float* v, float* out) {
#pragma omp parallel for
  for (int i = 0; i < 512; i += 4) rows_times_vector<4>(a + i * 771, v, out + i);
}
