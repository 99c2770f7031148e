// A warp a row: strided sums, then shuffles.
#include "problem.h"

// kw:knob KW_WARPS 2 4 8
#ifndef KW_WARPS
#define KW_WARPS 4
#endif

__global__ void row_mean(const float* x, float* out) {
  const int row = blockIdx.x * KW_WARPS + threadIdx.y;
  if (row >= x_dim0) return;
  float sum = 0;
  for (int i = threadIdx.x; i < x_dim1; i += 32) sum += x[row * x_stride0 + i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x == 0) out[row] = sum / x_dim1;
}

extern "C" void kw_kernel(const float* x, float* out, cudaStream_t stream) {
  row_mean<<<(x_dim0 + KW_WARPS - 1) / KW_WARPS, dim3(32, KW_WARPS), 0, stream>>>(x, out);
}
