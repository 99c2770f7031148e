// Direct convolution, one output plane after the other.
#include "problem.h"

extern "C" void kw_kernel(const float* x, const float* weight, const float* bias, float* out) {
#pragma omp parallel for collapse(2)
  for (int n = 0; n < 2; ++n) {
    for (int o = 0; o < 16; ++o) {
      for (int y = 0; y < 24; ++y) {
        for (int z = 0; z < 24; ++z) {
          float sum = 0;
          for (int c = 0; c < 8; ++c)
            for (int p = 0; p < 3; ++p)
              for (int q = 0; q < 3; ++q) {
                const int i = y + p - 1, j = z + q - 1;
                if (i < 0 || i > 23 || j < 0 || j > 23) continue;
                sum += x[((n * 8 + c) * 24 + i) * 24 + j] * weight[((o * 8 + c) * 3 + p) * 3 + q];
              }
          out[((n * 16 + o) * 24 + y) * 24 + z] = sum + bias[o];
        }
      }
    }
  }
}
