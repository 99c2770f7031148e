// The output lies as the input does: element by element through memory.
#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
  for (std::int64_t i = 0; i < out_numel; ++i) out[i] = (x[i] > 0 || x[i] != x[i] ? x[i] : 0.0f) * 2.0f + 1.0f;
}
