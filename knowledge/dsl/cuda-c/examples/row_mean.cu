// A warp for each row: neighbouring lanes on neighbouring elements, joined by shuffles.
#include "problem.h"

// kw:knob KW_THREADS 64 128 256
#ifndef KW_THREADS
#define KW_THREADS 128
#endif

__global__ void __launch_bounds__(KW_THREADS) row_mean(const float* __restrict__ x, float* __restrict__ out) {
  const int row = blockIdx.x * (KW_THREADS / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= x_dim0) return;
  float sum = 0.0f;
  for (int j = lane; j < x_dim1; j += 32) sum += x[row * x_stride0 + j];
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  if (lane == 0) out[row] = sum / x_dim1;
}

extern "C" void kw_kernel(const float* x, float* out, cudaStream_t stream) {
  constexpr int rows = KW_THREADS / 32;
  row_mean<<<(x_dim0 + rows - 1) / rows, KW_THREADS, 0, stream>>>(x, out);
}
