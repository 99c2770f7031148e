// Tensor cores in CuTe. Each float is split into two TF32 numbers, so that three products give float32's precision.
#include <cute/tensor.hpp>

#include "problem.h"

using namespace cute;

constexpr int kM = 64, kN = 64, kK = 16;
constexpr int kSize = 256;

template <class TiledMma>
__global__ void split_product(const float* a, const float* b, float* c, TiledMma mma) {
  Tensor ma = make_tensor(make_gmem_ptr(a), make_shape(Int<kSize>{}, Int<kSize>{}), make_stride(Int<kSize>{}, Int<1>{}));
  Tensor mb = make_tensor(make_gmem_ptr(b), make_shape(Int<kSize>{}, Int<kSize>{}), make_stride(Int<1>{}, Int<kSize>{}));
  Tensor mc = make_tensor(make_gmem_ptr(c), make_shape(Int<kSize>{}, Int<kSize>{}), make_stride(Int<kSize>{}, Int<1>{}));
  const auto tiler = make_shape(Int<kM>{}, Int<kN>{}, Int<kK>{});
  const auto coord = make_coord(blockIdx.x, blockIdx.y, _);
  Tensor ga = local_tile(ma, tiler, coord, Step<_1, X, _1>{});
  Tensor gb = local_tile(mb, tiler, coord, Step<X, _1, _1>{});
  Tensor gc = local_tile(mc, tiler, coord, Step<_1, _1, X>{});
  __shared__ tfloat32_t as[2][kM * kK], bs[2][kN * kK];
  const auto layout_a = make_layout(make_shape(Int<kM>{}, Int<kK>{}), LayoutRight{});
  const auto layout_b = make_layout(make_shape(Int<kN>{}, Int<kK>{}), LayoutRight{});
  Tensor a_high = make_tensor(make_smem_ptr(as[0]), layout_a), a_low = make_tensor(make_smem_ptr(as[1]), layout_a);
  Tensor b_high = make_tensor(make_smem_ptr(bs[0]), layout_b), b_low = make_tensor(make_smem_ptr(bs[1]), layout_b);
  ThrMMA mine = mma.get_slice(threadIdx.x);
  Tensor ra_high = mine.partition_fragment_A(a_high), ra_low = mine.partition_fragment_A(a_low);
  Tensor rb_high = mine.partition_fragment_B(b_high), rb_low = mine.partition_fragment_B(b_low);
  Tensor rc = mine.partition_fragment_C(gc);
  clear(rc);
  const auto split = [](float value, auto&& high, auto&& low) {
    high = tfloat32_t(value);
    low = tfloat32_t(value - float(tfloat32_t(value)));
  };
  for (int step = 0; step < size<2>(ga); ++step) {
    for (int i = threadIdx.x; i < kM * kK; i += blockDim.x)
      split(ga(i / kK, i % kK, step), a_high(i / kK, i % kK), a_low(i / kK, i % kK));
    for (int i = threadIdx.x; i < kN * kK; i += blockDim.x)
      split(gb(i % kN, i / kN, step), b_high(i % kN, i / kN), b_low(i % kN, i / kN));
    __syncthreads();
    copy(mine.partition_A(a_high), ra_high);
    copy(mine.partition_A(a_low), ra_low);
    copy(mine.partition_B(b_high), rb_high);
    copy(mine.partition_B(b_low), rb_low);
    gemm(mma, ra_low, rb_high, rc);
    gemm(mma, ra_high, rb_low, rc);
    gemm(mma, ra_high, rb_high, rc);
    __syncthreads();
  }
  copy(rc, mine.partition_C(gc));
}

extern "C" void kw_kernel(const float* a, const float* b, float* out, cudaStream_t stream) {
  const auto mma = make_tiled_mma(SM80_16x8x8_F32TF32TF32F32_TN{}, Layout<Shape<_2, _2>>{});
  split_product<<<dim3(kSize / kM, kSize / kN), static_cast<int>(size(mma)), 0, stream>>>(a, b, out, mma);
}
