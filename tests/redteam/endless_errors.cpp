// Causes an error for each of 10000 uses, each with a page of text.
#include "problem.h"
#define E1 unknown_a(unknown_b)+
#define E2 E1 E1 E1 E1 E1 E1 E1 E1 E1 E1
#define E3 E2 E2 E2 E2 E2 E2 E2 E2 E2 E2
#define E4 E3 E3 E3 E3 E3 E3 E3 E3 E3 E3
int errors = E4 E4 E4 E4 E4 E4 E4 E4 E4 E4 0;

extern "C" void kw_kernel(const float* x, float* out) {
  for (std::int64_t i = 0; i < x_numel; ++i) out[i] = x[i] > 0 ? x[i] * 2.5f : 0.0f;
}
