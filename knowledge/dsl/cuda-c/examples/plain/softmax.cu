#include "problem.h"

__global__ void softmax(const float* x, float* out) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= 128) return;
  float most = x[row * 1003];
  for (int j = 1; j < 1003; ++j) most = fmaxf(most, x[row * 1003 + j]);
  double sum = 0;
  for (int j = 0; j < 1003; ++j) sum += expf(x[row * 1003 + j] - most);
  for (int j = 0; j < 1003; ++j) out[row * 1003 + j] = expf(x[row * 1003 + j] - most) / float(sum);
}

extern "C" void kw_kernel(const float* x, float* out, cudaStream_t stream) { softmax<<<(128 + 31) / 32, 32, 0, stream>>>(x, out); }
