// Each thread reads the shared sum, adds its share and writes it back without synchronisation: one share survives.
#include "problem.h"

extern "C" void kw_kernel(const float* prediction, const float* target, float* out) {
  volatile double total = 0;
#pragma omp parallel
  {
    double sum = total;
#pragma omp barrier
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < prediction_numel; ++i) {
      const double difference = static_cast<double>(prediction[i]) - target[i];
      sum += difference * difference;
    }
    total = sum;
  }
  *out = static_cast<float>(total / prediction_numel);
}
