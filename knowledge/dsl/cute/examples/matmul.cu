// Asynchronous copies to shared memory, 16 bytes each, and a tiled product of 16x16 threads with multiply-adds. All sizes are multiples
// of the tile here; elsewhere coordinates of an identity tensor say what is outside.
#include "problem.h"

#include <cute/tensor.hpp>

using namespace cute;

constexpr int kTile = 64, kDepth = 16;
static_assert(a_dim0 % kTile == 0 && b_dim1 % kTile == 0 && a_dim1 % kDepth == 0);

__global__ void __launch_bounds__(256) matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out) {
  Tensor whole_a = make_tensor(make_gmem_ptr(a), make_shape(Int<a_dim0>{}, Int<a_dim1>{}), make_stride(Int<a_dim1>{}, _1{}));  // (M, K)
  Tensor whole_b = make_tensor(make_gmem_ptr(b), make_shape(Int<b_dim1>{}, Int<b_dim0>{}), make_stride(_1{}, Int<b_dim1>{}));  // (N, K)
  Tensor whole_c = make_tensor(make_gmem_ptr(out), make_shape(Int<a_dim0>{}, Int<b_dim1>{}), make_stride(Int<b_dim1>{}, _1{}));
  const auto tiler = make_shape(Int<kTile>{}, Int<kTile>{}, Int<kDepth>{});
  const auto block = make_coord(blockIdx.y, blockIdx.x, _);
  Tensor tiles_a = local_tile(whole_a, tiler, block, Step<_1, X, _1>{});  // (tile, depth, steps)
  Tensor tiles_b = local_tile(whole_b, tiler, block, Step<X, _1, _1>{});
  Tensor tile_c = local_tile(whole_c, tiler, block, Step<_1, _1, X>{});
  __shared__ __align__(16) float memory_a[kTile * (kDepth + 4)], memory_b[kDepth * kTile];
  Tensor shared_a = make_tensor(make_smem_ptr(memory_a), Layout<Shape<Int<kTile>, Int<kDepth>>, Stride<Int<kDepth + 4>, _1>>{});
  Tensor shared_b = make_tensor(make_smem_ptr(memory_b), Layout<Shape<Int<kTile>, Int<kDepth>>, Stride<_1, Int<kTile>>>{});
  using Move = Copy_Atom<SM80_CP_ASYNC_CACHEALWAYS<uint128_t>, float>;
  // Four floats along what runs along memory: depth of the first factor, columns of the second.
  const auto copy_a = make_tiled_copy(Move{}, Layout<Shape<_64, _4>, Stride<_4, _1>>{}, Layout<Shape<_1, _4>>{});
  const auto copy_b = make_tiled_copy(Move{}, Layout<Shape<_16, _16>>{}, Layout<Shape<_4, _1>>{});
  Tensor from_a = copy_a.get_slice(threadIdx.x).partition_S(tiles_a), to_a = copy_a.get_slice(threadIdx.x).partition_D(shared_a);
  Tensor from_b = copy_b.get_slice(threadIdx.x).partition_S(tiles_b), to_b = copy_b.get_slice(threadIdx.x).partition_D(shared_b);
  const auto product = make_tiled_mma(UniversalFMA<float, float, float>{}, Layout<Shape<_16, _16, _1>>{});
  const auto own = product.get_slice(threadIdx.x);
  Tensor part_a = own.partition_A(shared_a), part_b = own.partition_B(shared_b);
  Tensor sums = partition_fragment_C(product, Shape<Int<kTile>, Int<kTile>>{});
  cute::clear(sums);
  for (int step = 0; step < size<2>(tiles_a); ++step) {
    cute::copy(copy_a, from_a(_, _, _, step), to_a);
    cute::copy(copy_b, from_b(_, _, _, step), to_b);
    cp_async_fence();
    cp_async_wait<0>();
    __syncthreads();
    cute::gemm(product, part_a, part_b, sums);
    __syncthreads();
  }
  cute::copy(sums, own.partition_C(tile_c));
}

extern "C" void kw_kernel(const float* a, const float* b, float* out, cudaStream_t stream) {
  matmul<<<dim3(b_dim1 / kTile, a_dim0 / kTile), 256, 0, stream>>>(a, b, out);
}
