#include "../check.h"

constexpr int kTile = 16, kPer = 2;

// C = A B in float32: tiles in shared memory, 2x2 results a thread.
__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float as[kTile * kPer][kTile], bs[kTile][kTile * kPer];
  const int row = blockIdx.y * kTile * kPer, column = blockIdx.x * kTile * kPer;
  const int tx = threadIdx.x, ty = threadIdx.y;
  float sum[kPer][kPer] = {};
  for (int at = 0; at < k; at += kTile) {
#pragma unroll
    for (int p = 0; p < kPer; ++p) {
      const int r = row + ty + p * kTile, col = column + tx + p * kTile;
      as[ty + p * kTile][tx] = r < m && at + tx < k ? a[r * k + at + tx] : 0;
      bs[ty][tx + p * kTile] = col < n && at + ty < k ? b[(at + ty) * n + col] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i)
      for (int p = 0; p < kPer; ++p)
        for (int q = 0; q < kPer; ++q) sum[p][q] += as[ty + p * kTile][i] * bs[i][tx + q * kTile];
    __syncthreads();
  }
  for (int p = 0; p < kPer; ++p)
    for (int q = 0; q < kPer; ++q) {
      const int r = row + ty + p * kTile, col = column + tx + q * kTile;
      if (r < m && col < n) c[r * n + col] = sum[p][q];
    }
}

int main() {
  const int m = 70, n = 52, k = 45;
  Numbers numbers;
  auto a = numbers.floats(m * k), b = numbers.floats(k * n);
  std::vector<double> want(m * n, 0);
  for (int i = 0; i < m; ++i)
    for (int l = 0; l < k; ++l)
      for (int j = 0; j < n; ++j) want[i * n + j] += static_cast<double>(a[i * k + l]) * b[l * n + j];
  OnDevice<float> da(a), db(b), dc(m * n);
  gemm<<<dim3((n + 31) / 32, (m + 31) / 32), dim3(kTile, kTile)>>>(da.data, db.data, dc.data, m, n, k);
  expect_all_close(dc.host(), want, 1e-5, "c");
  return finish();
}
