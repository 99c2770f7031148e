#include "problem.h"

#include <algorithm>
#include <cmath>

// softmax(q @ k.T / sqrt(d)) @ v, one query row at a time; the scores of a row are all that is kept. Sums are in double.
extern "C" void kw_kernel(const float* q, const float* k, const float* v, float* out) {
  constexpr std::int64_t heads = q_shape[0], length = q_shape[1], width = q_shape[2];
  const double scale = 1.0 / std::sqrt(static_cast<double>(width));
#pragma omp parallel for collapse(2)
  for (std::int64_t h = 0; h < heads; ++h) {
    for (std::int64_t i = 0; i < length; ++i) {
      double scores[length], total[width] = {}, largest = -INFINITY, sum = 0;
      const float* query = q + (h * length + i) * width;
      for (std::int64_t j = 0; j < length; ++j) {
        const float* key = k + (h * length + j) * width;
        double dot = 0;
        for (std::int64_t c = 0; c < width; ++c) dot += static_cast<double>(query[c]) * key[c];
        scores[j] = dot * scale;
        largest = std::max(largest, scores[j]);
      }
      for (std::int64_t j = 0; j < length; ++j) {
        const double weight = std::exp(scores[j] - largest);
        sum += weight;
        for (std::int64_t c = 0; c < width; ++c) total[c] += weight * v[(h * length + j) * width + c];
      }
      for (std::int64_t c = 0; c < width; ++c) out[(h * length + i) * width + c] = static_cast<float>(total[c] / sum);
    }
  }
}
