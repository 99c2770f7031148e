// Waits for a lock that it holds.
#include <omp.h>

#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
  omp_lock_t lock;
  omp_init_lock(&lock);
  omp_set_lock(&lock);
  omp_set_lock(&lock);
  for (std::int64_t i = 0; i < x_numel; ++i) out[i] = x[i] > 0 ? x[i] * 2.5f : 0.0f;
}
