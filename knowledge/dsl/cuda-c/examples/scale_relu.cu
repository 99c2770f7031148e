// Four elements a thread in one access; the few that are left over are the last block's.
#include "problem.h"

// kw:knob KW_THREADS 128 256 512
#ifndef KW_THREADS
#define KW_THREADS 256
#endif

static __device__ __forceinline__ float scaled(float x) { return (x > 0.0f || x != x ? x : 0.0f) * 2.5f; }

__global__ void __launch_bounds__(KW_THREADS) scale_relu(const float* __restrict__ x, float* __restrict__ out) {
  const int i = (blockIdx.x * KW_THREADS + threadIdx.x) * 4;
  if (i + 4 <= x_numel) {
    const float4 v = *reinterpret_cast<const float4*>(x + i);
    *reinterpret_cast<float4*>(out + i) = make_float4(scaled(v.x), scaled(v.y), scaled(v.z), scaled(v.w));
  } else {
    for (int j = i; j < x_numel; ++j) out[j] = scaled(x[j]);
  }
}

extern "C" void kw_kernel(const float* x, float* out, cudaStream_t stream) {
  constexpr int each = KW_THREADS * 4;
  scale_relu<<<(x_numel + each - 1) / each, KW_THREADS, 0, stream>>>(x, out);
}
