// Arithmetic that takes subnormal numbers for zeros, as nvcc's -ftz=true makes it: no fault where the answer stays finite.
#include "problem.h"

__device__ float sum_ftz(float a, float b) {
  asm("add.ftz.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
  return a;
}
__device__ float ratio_ftz(float a, float b) {
  float ratio;
  asm("div.approx.ftz.f32 %0, %1, %2;" : "=f"(ratio) : "f"(a), "f"(b));
  return ratio;
}

__global__ void share_of_sum(const float* x, float* out) {
  float sum = 0;
  for (int i = threadIdx.x; i < x_dim1; i += 32) sum = sum_ftz(sum, fabsf(x[blockIdx.x * x_stride0 + i]));
  for (int offset = 16; offset > 0; offset /= 2) sum = sum_ftz(sum, __shfl_xor_sync(0xffffffffu, sum, offset));
  for (int i = threadIdx.x; i < x_dim1; i += 32)
    out[blockIdx.x * out_stride0 + i] = ratio_ftz(x[blockIdx.x * x_stride0 + i], sum + 1e-12f);
}

extern "C" void kw_kernel(const float* x, float* out, cudaStream_t stream) { share_of_sum<<<x_dim0, 32, 0, stream>>>(x, out); }
