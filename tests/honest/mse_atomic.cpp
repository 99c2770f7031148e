// Each row's float32 partial sum joins a double by an atomic, in whatever order.
#include "problem.h"

extern "C" void kw_kernel(const float* prediction, const float* target, float* out) {
  double total = 0;
#pragma omp parallel for schedule(dynamic, 8)
  for (int r = 0; r < 256; ++r) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int c = 0; c < 512; ++c) {
      const float difference = prediction[r * 512 + c] - target[r * 512 + c];
      sum += difference * difference;
    }
#pragma omp atomic
    total += sum;
  }
  *out = static_cast<float>(total / (256 * 512));
}
