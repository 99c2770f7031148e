// A warp for each row in registers: the mean first, then the squares of differences from it.
#include "problem.h"

// kw:knob KW_THREADS 64 128 256
#ifndef KW_THREADS
#define KW_THREADS 128
#endif

static __device__ __forceinline__ float of_warp(float value) {
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
}

__global__ void __launch_bounds__(KW_THREADS)
    layer_norm(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias, float* __restrict__ out) {
  constexpr int items = (x_dim1 + 31) / 32;
  const int row = blockIdx.x * (KW_THREADS / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= x_dim0) return;
  float kept[items], sum = 0.0f;
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const int j = i * 32 + lane;
    kept[i] = j < x_dim1 ? x[row * x_stride0 + j] : 0.0f;
    sum += kept[i];
  }
  const float mean = of_warp(sum) / x_dim1;
  float squares = 0.0f;
#pragma unroll
  for (int i = 0; i < items; ++i)
    if (i * 32 + lane < x_dim1) squares += (kept[i] - mean) * (kept[i] - mean);
  const float scale = rsqrtf(of_warp(squares) / x_dim1 + 1e-5f);
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const int j = i * 32 + lane;
    if (j < x_dim1) out[row * out_stride0 + j] = (kept[i] - mean) * scale * weight[j] + bias[j];
  }
}

extern "C" void kw_kernel(const float* x, const float* norm_weight, const float* norm_bias, float* out, cudaStream_t stream) {
  constexpr int rows = KW_THREADS / 32;
  layer_norm<<<(x_dim0 + rows - 1) / rows, KW_THREADS, 0, stream>>>(x, norm_weight, norm_bias, out);
}
