// im2col into a scratch vector that lives between calls (only its memory is kept, never its content).
#include <cstring>
#include <vector>

#include "problem.h"

extern "C" void kw_kernel(const float* x, const float* weight, const float* bias, float* out) {
  constexpr int pixels = 24 * 24, taps = 8 * 9;
  static std::vector<float> columns(taps * pixels);
  for (int n = 0; n < 2; ++n) {
#pragma omp parallel for
    for (int t = 0; t < taps; ++t) {
      const int c = t / 9, p = t / 3 % 3 - 1, q = t % 3 - 1;
      for (int y = 0; y < 24; ++y)
        for (int z = 0; z < 24; ++z) {
          const bool inside = y + p >= 0 && y + p < 24 && z + q >= 0 && z + q < 24;
          columns[t * pixels + y * 24 + z] = inside ? x[((n * 8 + c) * 24 + y + p) * 24 + z + q] : 0.0f;
        }
    }
#pragma omp parallel for
    for (int o = 0; o < 16; ++o) {
      float* plane = out + (n * 16 + o) * pixels;
      for (int i = 0; i < pixels; ++i) plane[i] = bias[o];
      for (int t = 0; t < taps; ++t)
        for (int i = 0; i < pixels; ++i) plane[i] += weight[o * taps + t] * columns[t * pixels + i];
    }
  }
}
