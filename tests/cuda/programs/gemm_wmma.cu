#include <cuda_fp16.h>
#include <mma.h>

#include "../check.h"

using namespace nvcuda;

// Tensor cores through the wmma interface: float16 in, float32 sums; four warps, each 32x16 of C.
__global__ void gemm(const half* a, const half* b, float* c, int m, int n, int k) {
  const int warp = threadIdx.x / 32;
  const int row = (blockIdx.y * 4 + warp) * 32, column = blockIdx.x * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2];
  wmma::fill_fragment(sums[0], 0.0f);
  wmma::fill_fragment(sums[1], 0.0f);
  for (int at = 0; at < k; at += 16) {
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::load_matrix_sync(fb, b + at * n + column, n);
    for (int i = 0; i < 2; ++i) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
      wmma::load_matrix_sync(fa, a + (row + i * 16) * k + at, k);
      wmma::mma_sync(sums[i], fa, fb, sums[i]);
    }
  }
  for (int i = 0; i < 2; ++i) {
    for (int e = 0; e < sums[i].num_elements; ++e) sums[i].x[e] *= 0.5f;
    wmma::store_matrix_sync(c + (row + i * 16) * n + column, sums[i], n, wmma::mem_row_major);
  }
}

int main() {
  const int m = 128, n = 48, k = 64;
  Numbers numbers;
  std::vector<half> a(m * k), b(k * n);
  for (half& v : a) v = __float2half(numbers.around());
  for (half& v : b) v = __float2half(numbers.around());
  std::vector<double> want(m * n, 0);
  for (int i = 0; i < m; ++i)
    for (int l = 0; l < k; ++l)
      for (int j = 0; j < n; ++j) want[i * n + j] += 0.5 * __half2float(a[i * k + l]) * __half2float(b[l * n + j]);
  OnDevice<half> da(a), db(b);
  OnDevice<float> dc(m * n);
  gemm<<<dim3(n / 16, m / 128), 128>>>(da.data, db.data, dc.data, m, n, k);
  expect_all_close(dc.host(), want, 1e-5, "c");
  return finish();
}
