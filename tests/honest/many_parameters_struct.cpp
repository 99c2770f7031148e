// Nine layers from the argument struct.
#include <cmath>
#include <utility>

#include "problem.h"

extern "C" void kw_kernel(const kw_args* args) {
  const std::pair<const float*, const float*> layers[] = {
      {args->fc1_weight, args->fc1_bias}, {args->fc2_weight, args->fc2_bias}, {args->fc3_weight, args->fc3_bias},
      {args->fc4_weight, args->fc4_bias}, {args->fc5_weight, args->fc5_bias}, {args->fc6_weight, args->fc6_bias},
      {args->fc7_weight, args->fc7_bias}, {args->fc8_weight, args->fc8_bias}, {args->fc9_weight, args->fc9_bias}};
#pragma omp parallel for
  for (int r = 0; r < 32; ++r) {
    float row[64], next[64];
    for (int i = 0; i < 64; ++i) row[i] = args->x[r * 64 + i];
    for (const auto& [weight, bias] : layers) {
      for (int o = 0; o < 64; ++o) {
        float sum = 0;
        for (int k = 0; k < 64; ++k) sum += row[k] * weight[o * 64 + k];
        next[o] = row[o] + std::tanh(sum + bias[o]);
      }
      std::swap(row, next);
    }
    for (int i = 0; i < 64; ++i) args->out[r * 64 + i] = row[i];
  }
}
