// Writes through a null pointer.
#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
  (void)out;
  volatile float* volatile nowhere = nullptr;
  *nowhere = x[0];
}
