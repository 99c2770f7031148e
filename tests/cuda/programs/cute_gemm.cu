#include <cute/tensor.hpp>

#include "../check.h"

using namespace cute;

// CuTe: layouts, tiled copies and an SM80 tensor-core atom in float16 with float32 sums.
constexpr int kM = 64, kN = 64, kK = 32;

template <class TiledMma>
__global__ void cute_product(const half_t* a, const half_t* b, float* c, int m, int n, int k, TiledMma mma) {
  Tensor ma = make_tensor(make_gmem_ptr(a), make_shape(m, k), make_stride(k, Int<1>{}));
  Tensor mb = make_tensor(make_gmem_ptr(b), make_shape(n, k), make_stride(k, Int<1>{}));
  Tensor mc = make_tensor(make_gmem_ptr(c), make_shape(m, n), make_stride(n, Int<1>{}));
  const auto tiler = make_shape(Int<kM>{}, Int<kN>{}, Int<kK>{});
  const auto coord = make_coord(blockIdx.x, blockIdx.y, _);
  Tensor ga = local_tile(ma, tiler, coord, Step<_1, X, _1>{});
  Tensor gb = local_tile(mb, tiler, coord, Step<X, _1, _1>{});
  Tensor gc = local_tile(mc, tiler, coord, Step<_1, _1, X>{});
  __shared__ half_t as[kM * kK], bs[kN * kK];
  Tensor sa = make_tensor(make_smem_ptr(as), make_layout(make_shape(Int<kM>{}, Int<kK>{}), LayoutRight{}));
  Tensor sb = make_tensor(make_smem_ptr(bs), make_layout(make_shape(Int<kN>{}, Int<kK>{}), LayoutRight{}));
  ThrMMA mine = mma.get_slice(threadIdx.x);
  Tensor ra = mine.partition_fragment_A(sa);
  Tensor rb = mine.partition_fragment_B(sb);
  Tensor rc = mine.partition_fragment_C(gc);
  clear(rc);
  for (int step = 0; step < size<2>(ga); ++step) {
    for (int i = threadIdx.x; i < kM * kK; i += blockDim.x) sa(i / kK, i % kK) = ga(i / kK, i % kK, step);
    for (int i = threadIdx.x; i < kN * kK; i += blockDim.x) sb(i / kK, i % kK) = gb(i / kK, i % kK, step);
    __syncthreads();
    copy(mine.partition_A(sa), ra);
    copy(mine.partition_B(sb), rb);
    gemm(mma, ra, rb, rc);
    __syncthreads();
  }
  copy(rc, mine.partition_C(gc));
}

int main() {
  const int m = 128, n = 64, k = 96;
  Numbers numbers;
  std::vector<half_t> a(m * k), b(n * k);
  for (auto& v : a) v = half_t(numbers.around());
  for (auto& v : b) v = half_t(numbers.around());
  std::vector<double> want(m * n, 0);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < k; ++l) want[i * n + j] += static_cast<double>(float(a[i * k + l])) * float(b[j * k + l]);
  OnDevice<half_t> da(a), db(b);
  OnDevice<float> dc(m * n);
  const auto mma = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2, _2>>{});
  cute_product<<<dim3(m / kM, n / kN), static_cast<int>(size(mma))>>>(da.data, db.data, dc.data, m, n, k, mma);
  expect_all_close(dc.host(), want, 1e-4, "c");
  return finish();
}
