#include "problem.h"

#include <algorithm>
#include <cmath>

// softmax(q @ k.T / sqrt(d)) @ v, one query row at a time; the scores of a row are all that is kept.
extern "C" void kw_kernel(const float* q, const float* k, const float* v, float* out) {
  constexpr std::int64_t heads = q_shape[0], length = q_shape[1], width = q_shape[2];
  const float scale = 1.0f / std::sqrt(static_cast<float>(width));
#pragma omp parallel for collapse(2)
  for (std::int64_t h = 0; h < heads; ++h) {
    for (std::int64_t i = 0; i < length; ++i) {
      float scores[length];
      const float* query = q + (h * length + i) * width;
      float largest = -INFINITY;
      for (std::int64_t j = 0; j < length; ++j) {
        const float* key = k + (h * length + j) * width;
        float dot = 0;
#pragma omp simd reduction(+ : dot)
        for (std::int64_t c = 0; c < width; ++c) dot += query[c] * key[c];
        scores[j] = dot * scale;
        largest = std::max(largest, scores[j]);
      }
      double sum = 0;
      for (std::int64_t j = 0; j < length; ++j) sum += scores[j] = std::exp(scores[j] - largest);
      float* result = out + (h * length + i) * width;
      std::fill(result, result + width, 0.0f);
      for (std::int64_t j = 0; j < length; ++j) {
        const float weight = static_cast<float>(scores[j] / sum);
#pragma omp simd
        for (std::int64_t c = 0; c < width; ++c) result[c] += weight * v[(h * length + j) * width + c];
      }
    }
  }
}
