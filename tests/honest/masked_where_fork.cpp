// Picks by the mask; the variable at the parting of ways is called fork.
#include "problem.h"

extern "C" void kw_kernel(const bool* mask, const float* x, const float* y, float* out) {
  for (int i = 0; i < 96 * 210; ++i) {
    const float fork[2] = {y[i], x[i]};
    out[i] = fork[mask[i]];
  }
}
