// Adds onto a register that nothing has set to zero.
#include "problem.h"

__global__ void row_mean(const float* x, float* out) {
  float sum;
  for (int i = threadIdx.x; i < x_dim1; i += 32) asm volatile("add.f32 %0, %0, %1;" : "+f"(sum) : "f"(x[blockIdx.x * x_stride0 + i]));
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x == 0) out[blockIdx.x] = sum / x_dim1;
}

extern "C" void kw_kernel(const float* x, float* out, cudaStream_t stream) { row_mean<<<x_dim0, 32, 0, stream>>>(x, out); }
