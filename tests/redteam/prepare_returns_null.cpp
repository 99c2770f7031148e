// kw_prepare gives nothing and the kernel uses it all the same.
#include "problem.h"

extern "C" void* kw_prepare(const float*, const float*) { return nullptr; }

extern "C" void kw_release(void*) {}

extern "C" void kw_kernel(void* state, const float*, const float*, const float*, float* out) {
  for (int i = 0; i < 64 * 192; ++i) out[i] = static_cast<volatile float*>(state)[i];
}
