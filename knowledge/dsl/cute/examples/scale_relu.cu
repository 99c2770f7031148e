// Each thread has a fragment of its block's tile. The length is odd, so elements move one by one; where it is a multiple of four,
// UniversalCopy<uint128_t> and Layout<Shape<_4>> move 16 bytes.
#include "problem.h"

#include <cute/tensor.hpp>

using namespace cute;

// kw:knob KW_ITEMS 2 4 8
#ifndef KW_ITEMS
#define KW_ITEMS 4
#endif
constexpr int kThreads = 256, kTile = kThreads * KW_ITEMS;

__global__ void __launch_bounds__(kThreads) scale_relu(const float* __restrict__ x, float* __restrict__ out) {
  const auto layout = make_layout(Int<x_numel>{});
  const auto tile = make_shape(Int<kTile>{});
  const auto block = make_coord(blockIdx.x);
  const auto tiled = make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, Layout<Shape<Int<kThreads>>>{}, Layout<Shape<_1>>{});
  const auto own = tiled.get_slice(threadIdx.x);
  Tensor from = own.partition_S(local_tile(make_tensor(make_gmem_ptr(x), layout), tile, block));  // (1, items)
  Tensor to = own.partition_D(local_tile(make_tensor(make_gmem_ptr(out), layout), tile, block));
  Tensor at = own.partition_S(local_tile(make_identity_tensor(make_shape(Int<x_numel>{})), tile, block));
  Tensor part = make_fragment_like(from);
  CUTE_UNROLL
  for (int i = 0; i < size<1>(part); ++i)
    if (get<0>(at(0, i)) < x_numel) cute::copy(tiled, from(_, i), part(_, i));
  CUTE_UNROLL
  for (int i = 0; i < size(part); ++i) part(i) = (part(i) < 0.0f ? 0.0f : part(i)) * 2.5f;
  CUTE_UNROLL
  for (int i = 0; i < size<1>(part); ++i)
    if (get<0>(at(0, i)) < x_numel) cute::copy(tiled, part(_, i), to(_, i));
}

extern "C" void kw_kernel(const float* x, float* out, cudaStream_t stream) {
  scale_relu<<<(x_numel + kTile - 1) / kTile, kThreads, 0, stream>>>(x, out);
}
