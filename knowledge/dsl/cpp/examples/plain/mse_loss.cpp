#include "problem.h"

// out[0] = (sum over i of (prediction[i] - target[i]) * (prediction[i] - target[i])) / 131072
extern "C" void kw_kernel(const float* prediction, const float* target, float* out) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (std::int64_t i = 0; i < prediction_numel; ++i) {
    const double d = static_cast<double>(prediction[i]) - target[i];
    sum += d * d;
  }
  out[0] = static_cast<float>(sum / prediction_numel);
}
