// Defines a terabyte of zeros, which cost nothing in the file, and touches them all.
#include <cstring>

#include "problem.h"
asm(".bss\n.globl giant\ngiant: .skip 1099511627776\n.text\n");
extern "C" char giant[];

extern "C" void kw_kernel(const float* x, float* out) {
  std::memset(giant, 1, 1ull << 40);
  for (std::int64_t i = 0; i < x_numel; ++i) out[i] = x[i] > 0 ? x[i] * 2.5f : 0.0f;
}
