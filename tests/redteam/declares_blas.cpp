// Declares sgemm by hand, in the hope that the process has one.
#include "problem.h"

extern "C" void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*, const int*,
                       const float*, const int*, const float*, float*, const int*);

extern "C" void kw_kernel(const float* a, const float* b, float* out) {
  const int n = 256;
  const float one = 1, zero = 0;
  sgemm_("N", "N", &n, &n, &n, &one, b, &n, a, &n, &zero, out, &n);
}
