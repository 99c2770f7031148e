// Packs b into panels in a static scratch buffer, then keeps a 4x16 tile of the output in vector registers.
#include "problem.h"

namespace {
typedef float Lanes __attribute__((vector_size(32)));
constexpr int kN = 256, kPanel = 16;
alignas(64) float panels[kN / kPanel][kN][kPanel];
}  // namespace

extern "C" void kw_kernel(const float* a, const float* b, float* out) {
#pragma omp parallel
  {
#pragma omp for
    for (int p = 0; p < kN / kPanel; ++p)
      for (int k = 0; k < kN; ++k)
        for (int j = 0; j < kPanel; ++j) panels[p][k][j] = b[k * kN + p * kPanel + j];
#pragma omp for collapse(2)
    for (int i = 0; i < kN; i += 4) {
      for (int p = 0; p < kN / kPanel; ++p) {
        Lanes tile[4][2] = {};
        for (int k = 0; k < kN; ++k) {
          const auto* row = reinterpret_cast<const Lanes*>(panels[p][k]);
          for (int r = 0; r < 4; ++r) {
            tile[r][0] += a[(i + r) * kN + k] * row[0];
            tile[r][1] += a[(i + r) * kN + k] * row[1];
          }
        }
        for (int r = 0; r < 4; ++r)
          for (int j = 0; j < kPanel; ++j) out[(i + r) * kN + p * kPanel + j] = tile[r][j / 8][j % 8];
      }
    }
  }
}
