// Makes the compiler run a loop without end.
#include "problem.h"
constexpr int spin() {
  unsigned turns = 0;
  while (true) ++turns;
  return static_cast<int>(turns);
}
constexpr int kNever = spin();

extern "C" void kw_kernel(const float* x, float* out) {
  for (std::int64_t i = 0; i < x_numel; ++i) out[i] = x[i] > 0 ? x[i] * 2.5f : 0.0f;
}
