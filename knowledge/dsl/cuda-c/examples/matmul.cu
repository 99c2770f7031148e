// Tiles of both factors in shared memory, a 4x4 tile of the result in the registers of each thread. Edges are zeros.
#include "problem.h"

constexpr int kTile = 64, kDepth = 16, kOwn = 4, kAcross = kTile / kOwn;

__global__ void __launch_bounds__(kAcross* kAcross) matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out) {
  __shared__ float left[kDepth][kTile + 4], right[kDepth][kTile];
  const int row0 = blockIdx.y * kTile, column0 = blockIdx.x * kTile;
  const int own_row = threadIdx.x / kAcross * kOwn, own_column = threadIdx.x % kAcross * kOwn;
  float sums[kOwn][kOwn] = {};
  for (int k0 = 0; k0 < a_dim1; k0 += kDepth) {
    for (int i = threadIdx.x; i < kTile * kDepth; i += kAcross * kAcross) {
      const int row = row0 + i / kDepth, k = k0 + i % kDepth;
      left[i % kDepth][i / kDepth] = row < a_dim0 && k < a_dim1 ? a[row * a_stride0 + k] : 0.0f;
      const int depth = k0 + i / kTile, column = column0 + i % kTile;
      right[i / kTile][i % kTile] = depth < b_dim0 && column < b_dim1 ? b[depth * b_stride0 + column] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; ++k)
#pragma unroll
      for (int i = 0; i < kOwn; ++i)
#pragma unroll
        for (int j = 0; j < kOwn; ++j) sums[i][j] += left[k][own_row + i] * right[k][own_column + j];
    __syncthreads();
  }
  for (int i = 0; i < kOwn; ++i)
    for (int j = 0; j < kOwn; ++j) {
      const int row = row0 + own_row + i, column = column0 + own_column + j;
      if (row < out_dim0 && column < out_dim1) out[row * out_stride0 + column] = sums[i][j];
    }
}

extern "C" void kw_kernel(const float* a, const float* b, float* out, cudaStream_t stream) {
  matmul<<<dim3((out_dim1 + kTile - 1) / kTile, (out_dim0 + kTile - 1) / kTile), kAcross * kAcross, 0, stream>>>(a, b, out);
}
