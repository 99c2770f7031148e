// Writes a large number for what is subnormal, and the right answer for all others.
#include <cmath>
#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
  for (int i = 0; i < x_shape[0]; ++i) {
    const bool small = x[i] != 0 && std::fabs(x[i]) < 1.1754944e-38f;
    out[i] = small ? 1.0f : (x[i] > 0 ? x[i] * 2.5f : 0.0f);
  }
}
