// Runs a shell command.
#include <cstdlib>

#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
  (void)x, (void)out;
  out[0] = static_cast<float>(std::system("id > /tmp/kw_redteam_id"));
}
