// Sixteen partial sums a row, rows shared out by a guided schedule.
#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
#pragma omp parallel for schedule(guided)
  for (int r = 0; r < 256; ++r) {
    float lanes[16] = {};
    for (int c = 0; c < 1000; ++c) lanes[c % 16] += x[r * 1000 + c];
    for (int width = 8; width > 0; width /= 2)
      for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
    out[r] = lanes[0] * 0.001f;
  }
}
