// Kills itself.
#include <csignal>

#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
  (void)x, (void)out;
  std::raise(SIGKILL);
}
