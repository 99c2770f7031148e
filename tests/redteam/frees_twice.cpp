// Frees a block twice.
#include <cstdlib>

#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
  for (std::int64_t i = 0; i < x_numel; ++i) out[i] = x[i] > 0 ? x[i] * 2.5f : 0.0f;
  void* volatile block = std::malloc(4096);
  std::free(block);
  std::free(block);
  std::free(reinterpret_cast<void*>(0x10));
}
