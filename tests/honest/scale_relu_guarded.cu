// Threads of the last block end where the others are at a barrier, which does not wait for them: a guard, a return.
#include "problem.h"

constexpr int kThreads = 256;

__global__ void guarded(const float* x, float* out, int from, int to) {
  __shared__ float tile[kThreads];
  const int i = from + blockIdx.x * kThreads + threadIdx.x;
  if (i < to) {
    tile[threadIdx.x] = x[i];
    __syncthreads();
    out[i] = fmaxf(tile[threadIdx.x], 0.0f) * 2.5f;
  }
}

__global__ void returning(const float* x, float* out, int from, int to) {
  __shared__ float tile[kThreads];
  const int i = from + blockIdx.x * kThreads + threadIdx.x;
  if (i >= to) return;
  tile[threadIdx.x] = x[i];
  __syncwarp();
  const int all = __syncthreads_count(1);
  const int mirrored = all - 1 - static_cast<int>(threadIdx.x);
  out[i - threadIdx.x + mirrored] = fmaxf(tile[mirrored], 0.0f) * 2.5f;
}

extern "C" void kw_kernel(const float* x, float* out, cudaStream_t stream) {
  constexpr int kHalf = x_numel / 2;
  constexpr int kBlocks = (x_numel - kHalf + kThreads - 1) / kThreads;
  guarded<<<kBlocks, kThreads, 0, stream>>>(x, out, 0, kHalf);
  returning<<<kBlocks, kThreads, 0, stream>>>(x, out, kHalf, x_numel);
}
