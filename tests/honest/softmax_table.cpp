// exp through a table of 2^(i/64) that a static constructor fills at load, and a short polynomial.
#include <array>
#include <cmath>

#include "problem.h"

namespace {
struct Powers {
  std::array<double, 64> of_two{};
  Powers() {
    for (int i = 0; i < 64; ++i) of_two[i] = std::exp2(i / 64.0);
  }
};
const Powers powers;

double exp_nonpositive(double v) {
  const double scaled = v * 92.332482616893657;  // 64 / ln 2
  const double whole = std::floor(scaled);
  const double rest = (scaled - whole) * 0.010830424696249145;
  const auto index = static_cast<long>(whole);
  return std::ldexp(powers.of_two[index & 63], static_cast<int>(index >> 6)) * (1 + rest * (1 + rest * (0.5 + rest / 6)));
}
}  // namespace

extern "C" void kw_kernel(const float* x, float* out) {
  constexpr std::int64_t rows = x_shape[0], columns = x_shape[1];
#pragma omp parallel for
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * columns;
    float largest = in[0];
    for (std::int64_t c = 1; c < columns; ++c) largest = std::fmax(largest, in[c]);
    thread_local double powers_of_row[columns];
    double sum = 0;
    for (std::int64_t c = 0; c < columns; ++c) {
      const double difference = static_cast<double>(in[c]) - largest;
      sum += powers_of_row[c] = difference < -700 ? 0.0 : exp_nonpositive(difference);
    }
    for (std::int64_t c = 0; c < columns; ++c) out[r * columns + c] = static_cast<float>(powers_of_row[c] / sum);
  }
}
