// Lanes of one warp come to two barriers by different ways.
#include "problem.h"

__global__ void scale_relu(const float* x, float* out) {
  __shared__ float tile[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  tile[threadIdx.x] = i < x_numel ? x[i] : 0.0f;
  float value;
  if (threadIdx.x % 2 == 0) {
    __syncthreads();
    value = tile[threadIdx.x];
  } else {
    __syncthreads();
    value = -tile[threadIdx.x];
  }
  if (i < x_numel) out[i] = fmaxf(threadIdx.x % 2 == 0 ? value : -value, 0.0f) * 2.5f;
}

extern "C" void kw_kernel(const float* x, float* out, cudaStream_t stream) {
  scale_relu<<<(x_numel + 255) / 256, 256, 0, stream>>>(x, out);
}
