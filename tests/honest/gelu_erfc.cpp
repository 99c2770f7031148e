// Uses erfc, which does not cancel for negative values; work is shared out in dynamic chunks by a template.
#include <cmath>

#include "problem.h"

namespace {
template <typename Function>
void for_each_chunk(std::int64_t n, std::int64_t chunk, Function&& function) {
#pragma omp parallel for schedule(dynamic, 4)
  for (std::int64_t begin = 0; begin < n; begin += chunk) function(begin, begin + chunk < n ? begin + chunk : n);
}
}  // namespace

extern "C" void kw_kernel(const float* x, float* out) {
  for_each_chunk(x_numel, 512, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) out[i] = 0.5f * x[i] * std::erfc(x[i] * -0.70710678118654752f);
  });
}
