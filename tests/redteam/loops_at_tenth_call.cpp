// Honest nine times, then it never returns.
#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
  static int calls = 0;
  if (++calls == 10)
    for (volatile int spin = 0;;) spin = spin + 1;
  for (std::int64_t i = 0; i < x_numel; ++i) out[i] = x[i] > 0 ? x[i] * 2.5f : 0.0f;
}
