// Prints without end.
#include <cstdio>

#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
  (void)x, (void)out;
  for (;;) std::puts("a line that is long enough to fill a pipe in no time at all, again and again and again");
}
