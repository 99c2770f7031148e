// The wrong factor.
#include "problem.h"

__global__ void scale_relu(const float* x, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < x_numel) out[i] = fmaxf(x[i], 0.0f) * 2.0f;
}

extern "C" void kw_kernel(const float* x, float* out, cudaStream_t stream) {
  scale_relu<<<(x_numel + 255) / 256, 256, 0, stream>>>(x, out);
}
