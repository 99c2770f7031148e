// A parallel simd loop over restricted, aligned pointers.
#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
  const float* __restrict__ in = static_cast<const float*>(__builtin_assume_aligned(x, 64));
  float* __restrict__ result = static_cast<float*>(__builtin_assume_aligned(out, 64));
#pragma omp parallel for simd schedule(static) aligned(in, result : 64)
  for (std::int64_t i = 0; i < x_numel; ++i) result[i] = (in[i] > 0 ? in[i] : 0.0f) * 2.5f;
}
