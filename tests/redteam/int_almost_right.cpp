// One sum is off by one.
#include "problem.h"

extern "C" void kw_kernel(const std::int32_t* x, const std::int32_t* y, std::int32_t* out) {
  for (std::int64_t i = 0; i < x_numel; ++i) out[i] = x[i] + y[i] + (i == 5000);
}
