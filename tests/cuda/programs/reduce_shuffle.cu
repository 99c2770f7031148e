#include "../check.h"

// Sum and maximum of an array: shuffles in a warp, shared memory between warps, atomics between blocks.
__inline__ __device__ float warp_sum(float v) {
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
  return v;
}
__inline__ __device__ int warp_max(int v) {
  for (int offset = 16; offset > 0; offset /= 2) v = max(v, __shfl_xor_sync(0xffffffff, v, offset));
  return v;
}

template <int Threads>
__global__ void __launch_bounds__(Threads) reduce(const float* x, const int* k, int n, double* sum, int* maximum) {
  __shared__ float sums[Threads / 32];
  __shared__ int maxima[Threads / 32];
  float s = 0;
  int m = INT_MIN;
  for (int i = blockIdx.x * Threads + threadIdx.x; i < n; i += gridDim.x * Threads) s += x[i], m = max(m, k[i]);
  s = warp_sum(s);
  m = warp_max(m);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) sums[warp] = s, maxima[warp] = m;
  __syncthreads();
  if (warp == 0) {
    s = warp_sum(lane < Threads / 32 ? sums[lane] : 0.0f);
    m = warp_max(lane < Threads / 32 ? maxima[lane] : INT_MIN);
    if (lane == 0) atomicAdd(sum, static_cast<double>(s)), atomicMax(maximum, m);
  }
}

int main() {
  const int n = 30011;
  Numbers numbers;
  auto x = numbers.floats(n);
  std::vector<int> k(n);
  for (int& v : k) v = static_cast<int>(numbers.bits() >> 1) - (1 << 30);
  double want = 0;
  int want_max = INT_MIN;
  for (int i = 0; i < n; ++i) want += x[i], want_max = std::max(want_max, k[i]);
  OnDevice<float> dx(x);
  OnDevice<int> dk(k), dmax(std::vector<int>{INT_MIN});
  OnDevice<double> dsum(std::vector<double>{0});
  reduce<256><<<6, 256>>>(dx.data, dk.data, n, dsum.data, dmax.data);
  expect_close(dsum.host()[0], want, 1e-4, "sum", 0);
  expect_close(dmax.host()[0], want_max, 0, "max", 0);
  return finish();
}
