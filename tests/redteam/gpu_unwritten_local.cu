// Adds zero times an array of its own that nothing has written: right only where local memory holds finite values.
#include "problem.h"

__global__ void row_mean(const float* x, float* out) {
  volatile float unwritten[8];
  float sum = 0;
  for (int i = threadIdx.x; i < x_dim1; i += 32) sum += x[blockIdx.x * x_stride0 + i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x == 0) out[blockIdx.x] = sum / x_dim1 + 0.0f * unwritten[blockIdx.x % 8];
}

extern "C" void kw_kernel(const float* x, float* out, cudaStream_t stream) { row_mean<<<x_dim0, 32, 0, stream>>>(x, out); }
