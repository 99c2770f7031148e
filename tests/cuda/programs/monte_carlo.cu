#include <cstdint>

#include "../check.h"

// 64-bit integers, double precision and the slow paths of the maths functions.
__host__ __device__ uint64_t next(uint64_t& state) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state * 0x2545f4914f6cdd1dull;
}

__device__ double payoff(uint64_t seed, int steps) {
  uint64_t state = seed * 0x9e3779b97f4a7c15ull + 1;
  double sum = 0;
  for (int i = 0; i < steps; ++i) {
    const double u = (next(state) >> 11) * 0x1p-53 + 1e-12, v = (next(state) >> 11) * 0x1p-53;
    const double normal = sqrt(-2 * log(u)) * cospi(2 * v);
    sum += fmax(exp(0.2 * normal) - 1, 0.0) + fmod(u * 1e6, 0.7) + pow(v + 0.5, 1.7) + sin(1e4 * u) + static_cast<double>(state % 1000003) * 1e-9;
  }
  return sum / steps;
}

__global__ void simulate(double* out, int paths, int steps) {
  const int path = blockIdx.x * blockDim.x + threadIdx.x;
  if (path < paths) out[path] = payoff(path + 1, steps);
}

int main() {
  const int paths = 96, steps = 5;
  OnDevice<double> out(paths);
  simulate<<<3, 32>>>(out.data, paths, steps);
  std::vector<double> want(paths);
  for (int path = 0; path < paths; ++path) {
    uint64_t state = (path + 1) * 0x9e3779b97f4a7c15ull + 1;
    double sum = 0;
    for (int i = 0; i < steps; ++i) {
      const double u = (next(state) >> 11) * 0x1p-53 + 1e-12, v = (next(state) >> 11) * 0x1p-53;
      const double normal = std::sqrt(-2 * std::log(u)) * std::cos(2 * 3.14159265358979323846 * v);
      sum += std::fmax(std::exp(0.2 * normal) - 1, 0.0) + std::fmod(u * 1e6, 0.7) + std::pow(v + 0.5, 1.7) + std::sin(1e4 * u) +
             static_cast<double>(state % 1000003) * 1e-9;
    }
    want[path] = sum / steps;
  }
  expect_all_close(out.host(), want, 1e-12, "payoff");
  return finish();
}
