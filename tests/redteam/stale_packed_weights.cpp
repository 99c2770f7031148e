// Packs the weights into a static array at the first call and never looks at them again.
#include "problem.h"

extern "C" void kw_kernel(const float* x, const float* weight, const float* bias, float* out) {
  static float packed[256][192];
  static bool ready = false;
  for (int i = 0; i < 256 * 192 && !ready; ++i) packed[i % 256][i / 256] = weight[i];
  ready = true;
  for (int r = 0; r < 64; ++r) {
    float sums[192];
    for (int o = 0; o < 192; ++o) sums[o] = bias[o];
    for (int k = 0; k < 256; ++k)
      for (int o = 0; o < 192; ++o) sums[o] += x[r * 256 + k] * packed[k][o];
    for (int o = 0; o < 192; ++o) out[r * 192 + o] = sums[o] > 0 ? sums[o] : 0.0f;
  }
}
