// kw_prepare transposes the weights once, so that the inner loop runs along outputs.
#include <cstdlib>

#include "problem.h"

namespace {
struct Packed {
  float bias[192];
  float columns[256][192];  // input feature, output feature
};
}  // namespace

extern "C" void* kw_prepare(const float* weight, const float* bias) {
  auto* packed = static_cast<Packed*>(std::aligned_alloc(64, (sizeof(Packed) + 63) / 64 * 64));
  for (int o = 0; o < 192; ++o) {
    packed->bias[o] = bias[o];
    for (int k = 0; k < 256; ++k) packed->columns[k][o] = weight[o * 256 + k];
  }
  return packed;
}

extern "C" void kw_release(void* state) { std::free(state); }

extern "C" void kw_kernel(void* state, const float* x, const float*, const float*, float* out) {
  const Packed& packed = *static_cast<const Packed*>(state);
#pragma omp parallel for
  for (int r = 0; r < 64; ++r) {
    float sums[192] = {};
    for (int k = 0; k < 256; ++k) {
      const float factor = x[r * 256 + k];
#pragma omp simd
      for (int o = 0; o < 192; ++o) sums[o] += factor * packed.columns[k][o];
    }
    for (int o = 0; o < 192; ++o) out[r * 192 + o] = sums[o] + packed.bias[o] > 0 ? sums[o] + packed.bias[o] : 0.0f;
  }
}
