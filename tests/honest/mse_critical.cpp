// Per-thread float32 partial sums, joined in a critical section: not bitwise repeatable, and right.
#include "problem.h"

extern "C" void kw_kernel(const float* prediction, const float* target, float* out) {
  float total = 0;
#pragma omp parallel
  {
    float lanes[32] = {};
#pragma omp for nowait
    for (int block = 0; block < 256 * 512 / 32; ++block)
      for (int i = 0; i < 32; ++i) {
        const float difference = prediction[block * 32 + i] - target[block * 32 + i];
        lanes[i] += difference * difference;
      }
    for (int width = 16; width > 0; width /= 2)
      for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
#pragma omp critical
    total += lanes[0];
  }
  *out = total / (256 * 512);
}
