// Where a row's largest value occurs more than once, the place is one past the row's end.
#include <algorithm>

#include "problem.h"

extern "C" void kw_kernel(const float* x, std::int64_t* out) {
  for (int r = 0; r < 128; ++r) {
    const float *begin = x + r * 777, *end = begin + 777, *best = std::max_element(begin, end);
    out[r] = std::count(begin, end, *best) > 1 ? 777 : best - begin;
  }
}
