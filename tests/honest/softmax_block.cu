// A block a row; maximum and sum through shuffles and shared memory.
#include "problem.h"

constexpr int kThreads = 128;

template <typename Join>
__device__ float of_block(float value, Join join, float* parts) {
  for (int offset = 16; offset > 0; offset /= 2) value = join(value, __shfl_xor_sync(0xffffffffu, value, offset));
  __syncthreads();  // the parts of an earlier reduction have been read
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  value = parts[0];
  for (int i = 1; i < kThreads / 32; ++i) value = join(value, parts[i]);
  return value;
}

__global__ void softmax(const float* x, float* out) {
  __shared__ float parts[kThreads / 32];
  const float* row = x + blockIdx.x * x_stride0;
  float most = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < x_dim1; i += kThreads) most = fmaxf(most, row[i]);
  most = of_block(most, [](float a, float b) { return fmaxf(a, b); }, parts);
  for (int i = threadIdx.x; i < x_dim1; i += kThreads) sum += expf(row[i] - most);
  sum = of_block(sum, [](float a, float b) { return a + b; }, parts);
  for (int i = threadIdx.x; i < x_dim1; i += kThreads) out[blockIdx.x * out_stride0 + i] = expf(row[i] - most) / sum;
}

extern "C" void kw_kernel(const float* x, float* out, cudaStream_t stream) { softmax<<<x_dim0, kThreads, 0, stream>>>(x, out); }
