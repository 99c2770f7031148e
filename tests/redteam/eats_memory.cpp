// Takes and touches memory until there is none.
#include <cstdlib>
#include <cstring>

#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
  for (;;) {
    void* volatile block = std::malloc(1 << 26);
    std::memset(block, 1, 1 << 26);
  }
  for (std::int64_t i = 0; i < x_numel; ++i) out[i] = x[i] > 0 ? x[i] * 2.5f : 0.0f;
}
