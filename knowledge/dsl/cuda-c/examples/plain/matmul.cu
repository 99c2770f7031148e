#include "problem.h"

__global__ void matmul(const float* a, const float* b, float* out) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (column >= 256) return;
  float sum = 0.0f;
  for (int k = 0; k < 256; ++k) sum += a[row * 256 + k] * b[k * 256 + column];
  out[row * 256 + column] = sum;
}

extern "C" void kw_kernel(const float* a, const float* b, float* out, cudaStream_t stream) {
  matmul<<<dim3(2, 256), 128, 0, stream>>>(a, b, out);
}
