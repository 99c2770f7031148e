// Half of the threads never reach the barrier.
#include "problem.h"

__global__ void scale_relu(const float* x, float* out) {
  __shared__ float tile[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < x_numel) {
    tile[threadIdx.x] = x[i];
    __syncthreads();
    out[i] = fmaxf(tile[threadIdx.x], 0.0f) * 2.5f;
  }
}

extern "C" void kw_kernel(const float* x, float* out, cudaStream_t stream) {
  scale_relu<<<(x_numel + 255) / 256, 256, 0, stream>>>(x, out);
}
