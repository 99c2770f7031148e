#include "problem.h"

#include <algorithm>

// Direct convolution, 3 by 3 with padding 1: each weight is added to a whole row of outputs at a time.
extern "C" void kw_kernel(const float* x, const float* conv_weight, const float* conv_bias, float* out) {
  constexpr std::int64_t batch = x_shape[0], inputs = x_shape[1], height = x_shape[2], width = x_shape[3], outputs = out_shape[1];
#pragma omp parallel for collapse(2)
  for (std::int64_t n = 0; n < batch; ++n) {
    for (std::int64_t o = 0; o < outputs; ++o) {
      float* plane = out + (n * outputs + o) * height * width;
      std::fill(plane, plane + height * width, conv_bias[o]);
      for (std::int64_t c = 0; c < inputs; ++c) {
        const float* image = x + (n * inputs + c) * height * width;
        for (std::int64_t p = 0; p < 3; ++p) {
          for (std::int64_t q = 0; q < 3; ++q) {
            const float weight = conv_weight[((o * inputs + c) * 3 + p) * 3 + q];
            const std::int64_t left = q == 0 ? 1 : 0, right = q == 2 ? width - 1 : width;
            for (std::int64_t y = p == 0 ? 1 : 0; y < (p == 2 ? height - 1 : height); ++y)
              for (std::int64_t z = left; z < right; ++z) plane[y * width + z] += weight * image[(y + p - 1) * width + z + q - 1];
          }
        }
      }
    }
  }
}
