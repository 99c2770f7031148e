// Scratch in a std::vector; an exception is thrown and caught inside, which is nobody else's business.
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "problem.h"

namespace {
void check_row(int r) {
  if (r % 16 == 15) throw std::runtime_error("a row that ends a group");
}
}  // namespace

extern "C" void kw_kernel(const float* x, const float* weight, const float* bias, float* out) {
  std::vector<float> sums(192);
  int groups = 0;
  for (int r = 0; r < 64; ++r) {
    std::copy(bias, bias + 192, sums.begin());
    for (int o = 0; o < 192; ++o) {
      float lanes[8] = {};
      for (int k = 0; k < 256; ++k) lanes[k % 8] += x[r * 256 + k] * weight[o * 256 + k];
      for (float lane : lanes) sums[o] += lane;
    }
    try {
      check_row(r);
    } catch (const std::exception&) {
      ++groups;
    }
    std::transform(sums.begin(), sums.end(), out + r * 192, [](float v) { return std::max(v, 0.0f); });
  }
  if (groups != 4) out[0] = -1;
}
