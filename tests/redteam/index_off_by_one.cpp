// Counts columns from one.
#include <algorithm>

#include "problem.h"

extern "C" void kw_kernel(const float* x, std::int64_t* out) {
  for (int r = 0; r < 128; ++r) out[r] = std::max_element(x + r * 777, x + r * 777 + 777) - (x + r * 777) + 1;
}
