// Instantiates two templates for each one, a thousand deep.
#include "problem.h"

template <int kDepth, long kPath>
struct Bomb {
  static constexpr long value = Bomb<kDepth - 1, 2 * kPath>::value + Bomb<kDepth - 1, 2 * kPath + 1>::value;
};
template <long kPath>
struct Bomb<0, kPath> {
  static constexpr long value = kPath;
};
static_assert(Bomb<40, 1>::value != 1);

extern "C" void kw_kernel(const float* x, float* out) {
  for (std::int64_t i = 0; i < x_numel; ++i) out[i] = x[i] > 0 ? x[i] * 2.5f : 0.0f;
}
