// A warp for each row, which it holds in fragments of registers.
#include "problem.h"

#include <cute/tensor.hpp>

using namespace cute;

constexpr int kThreads = 128, kWarps = kThreads / 32;

static __device__ __forceinline__ float greatest_of_warp(float value) {
  for (int distance = 16; distance > 0; distance /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, value, distance);
    value = value > other || value != value ? value : other;
  }
  return value;
}

static __device__ __forceinline__ float sum_of_warp(float value) {
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
}

__global__ void __launch_bounds__(kThreads) softmax(const float* __restrict__ x, float* __restrict__ out) {
  const int row = blockIdx.x * kWarps + threadIdx.x / 32;
  if (row >= x_dim0) return;
  const auto shape = make_shape(Int<x_dim0>{}, Int<x_dim1>{});
  const auto tiled = make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, Layout<Shape<_32>>{}, Layout<Shape<_1>>{});
  const auto own = tiled.get_slice(threadIdx.x % 32);
  Tensor from = own.partition_S(make_tensor(make_gmem_ptr(x), shape, LayoutRight{})(row, _));
  Tensor to = own.partition_D(make_tensor(make_gmem_ptr(out), shape, LayoutRight{})(row, _));
  Tensor at = own.partition_S(make_identity_tensor(make_shape(Int<x_dim1>{})));
  Tensor kept = make_fragment_like(from);
  float most = -INFINITY;
  CUTE_UNROLL
  for (int i = 0; i < size(kept); ++i) {
    kept(i) = get<0>(at(i)) < x_dim1 ? from(i) : -INFINITY;
    most = most > kept(i) || most != most ? most : kept(i);
  }
  most = greatest_of_warp(most);
  float sum = 0.0f;
  CUTE_UNROLL
  for (int i = 0; i < size(kept); ++i) {
    kept(i) = get<0>(at(i)) < x_dim1 ? expf(kept(i) - most) : 0.0f;
    sum += kept(i);
  }
  sum = sum_of_warp(sum);
  CUTE_UNROLL
  for (int i = 0; i < size(kept); ++i)
    if (get<0>(at(i)) < x_dim1) to(i) = kept(i) / sum;
}

extern "C" void kw_kernel(const float* x, float* out, cudaStream_t stream) {
  softmax<<<(x_dim0 + kWarps - 1) / kWarps, kThreads, 0, stream>>>(x, out);
}
