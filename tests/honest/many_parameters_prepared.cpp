// kw_prepare transposes nine layers from the struct of weights.
#include <cmath>
#include <cstring>

#include "problem.h"

namespace {
struct Layers {
  float weight[9][64][64];  // layer, input, output
  float bias[9][64];
};
}  // namespace

extern "C" void* kw_prepare(const kw_weights* w) {
  const float* const weights[] = {w->fc1_weight, w->fc2_weight, w->fc3_weight, w->fc4_weight, w->fc5_weight,
                                  w->fc6_weight, w->fc7_weight, w->fc8_weight, w->fc9_weight};
  const float* const biases[] = {w->fc1_bias, w->fc2_bias, w->fc3_bias, w->fc4_bias, w->fc5_bias,
                                 w->fc6_bias, w->fc7_bias, w->fc8_bias, w->fc9_bias};
  auto* layers = new Layers;
  for (int l = 0; l < 9; ++l) {
    std::memcpy(layers->bias[l], biases[l], sizeof(layers->bias[l]));
    for (int o = 0; o < 64; ++o)
      for (int k = 0; k < 64; ++k) layers->weight[l][k][o] = weights[l][o * 64 + k];
  }
  return layers;
}

extern "C" void kw_release(void* state) { delete static_cast<Layers*>(state); }

extern "C" void kw_kernel(void* state, const kw_args* args) {
  const Layers& layers = *static_cast<const Layers*>(state);
#pragma omp parallel for
  for (int r = 0; r < 32; ++r) {
    float row[64];
    std::memcpy(row, args->x + r * 64, sizeof(row));
    for (int l = 0; l < 9; ++l) {
      float sums[64] = {};
      for (int k = 0; k < 64; ++k)
        for (int o = 0; o < 64; ++o) sums[o] += row[k] * layers.weight[l][k][o];
      for (int o = 0; o < 64; ++o) row[o] += std::tanh(sums[o] + layers.bias[l][o]);
    }
    std::memcpy(args->out + r * 64, row, sizeof(row));
  }
}
