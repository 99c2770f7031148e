// Divides by a sum that its arithmetic takes for zero where it is subnormal: NaN where PyTorch's answer is finite.
#include "problem.h"

__device__ float ratio_ftz(float a, float b) {
  float ratio;
  asm("div.approx.ftz.f32 %0, %1, %2;" : "=f"(ratio) : "f"(a), "f"(b));
  return ratio;
}

__global__ void share_of_sum(const float* x, float* out) {
  float sum = 0;
  for (int i = threadIdx.x; i < x_dim1; i += 32) {
    const float size = fabsf(x[blockIdx.x * x_stride0 + i]);
    asm("add.ftz.f32 %0, %0, %1;" : "+f"(sum) : "f"(size));
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  for (int i = threadIdx.x; i < x_dim1; i += 32)
    out[blockIdx.x * out_stride0 + i] = ratio_ftz(x[blockIdx.x * x_stride0 + i], sum);
}

extern "C" void kw_kernel(const float* x, float* out, cudaStream_t stream) { share_of_sum<<<x_dim0, 32, 0, stream>>>(x, out); }
