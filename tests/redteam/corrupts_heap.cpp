// Overwrites the heap past a block of its own until something gives.
#include <cstdlib>

#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
  for (std::int64_t i = 0; i < x_numel; ++i) out[i] = x[i] > 0 ? x[i] * 2.5f : 0.0f;
  auto* block = static_cast<volatile char*>(std::malloc(64));
  for (long i = 64; i < (1l << 32); ++i) block[i] = 0x41;
}
