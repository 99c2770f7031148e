// A block for each row, which is read once and stays in registers; results of warps are joined through shared memory.
#include "problem.h"

// kw:knob KW_THREADS 128 256 512
#ifndef KW_THREADS
#define KW_THREADS 128
#endif

struct Greater {
  __device__ float operator()(float a, float b) const { return a > b || a != a ? a : b; }
};
struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// The result of all threads of the block, for each of them.
template <class Join>
static __device__ __forceinline__ float of_block(float value, Join join) {
  __shared__ float parts[KW_THREADS / 32];
  for (int distance = 16; distance > 0; distance /= 2) value = join(value, __shfl_xor_sync(0xffffffffu, value, distance));
  __syncthreads();  // the parts of an earlier call have been read
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  value = parts[0];
  for (int i = 1; i < KW_THREADS / 32; ++i) value = join(value, parts[i]);
  return value;
}

__global__ void __launch_bounds__(KW_THREADS) softmax(const float* __restrict__ x, float* __restrict__ out) {
  constexpr int items = (x_dim1 + KW_THREADS - 1) / KW_THREADS;
  float kept[items];
  float most = -INFINITY;
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const int j = i * KW_THREADS + threadIdx.x;
    kept[i] = j < x_dim1 ? x[blockIdx.x * x_stride0 + j] : -INFINITY;
    most = Greater()(most, kept[i]);
  }
  most = of_block(most, Greater());
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < items; ++i) {
    kept[i] = i * KW_THREADS + threadIdx.x < x_dim1 ? expf(kept[i] - most) : 0.0f;
    sum += kept[i];
  }
  sum = of_block(sum, Sum());
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const int j = i * KW_THREADS + threadIdx.x;
    if (j < x_dim1) out[blockIdx.x * out_stride0 + j] = kept[i] / sum;
  }
}

extern "C" void kw_kernel(const float* x, float* out, cudaStream_t stream) { softmax<<<x_dim0, KW_THREADS, 0, stream>>>(x, out); }
