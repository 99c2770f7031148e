// Loads a vector with an aligned instruction from an address that is not.
#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
  (void)x, (void)out;
#if defined(__x86_64__)
  asm volatile("movaps (%0), %%xmm0" : : "r"(x + 1) : "xmm0", "memory");
#else
  __builtin_trap();
#endif
}
