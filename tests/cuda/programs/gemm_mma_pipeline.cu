#include <cuda_fp16.h>

#include <cstdint>

#include "../check.h"

// Tensor cores as fast kernels use them: cp.async into two stages of shared memory, ldmatrix, mma.sync m16n8k16. One warp makes 16x8 of C,
// a block of four warps 32x16.
constexpr int kBlockM = 32, kBlockN = 16, kStep = 32, kPad = 8;

__device__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ void copy_16(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(shared_address(to)), "l"(from));
}

__global__ void gemm(const half* __restrict__ a, const half* __restrict__ b_transposed, float* c, int m, int n, int k) {
  __shared__ __align__(16) half as[2][kBlockM][kStep + kPad], bs[2][kBlockN][kStep + kPad];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int warp_m = warp / 2 * 16, warp_n = warp % 2 * 8;
  const int row0 = blockIdx.y * kBlockM, column0 = blockIdx.x * kBlockN;
  const auto fetch = [&](int stage, int at) {
    for (int chunk = threadIdx.x; chunk < kBlockM * kStep / 8; chunk += blockDim.x)
      copy_16(&as[stage][chunk / 4][chunk % 4 * 8], a + (row0 + chunk / 4) * k + at + chunk % 4 * 8);
    for (int chunk = threadIdx.x; chunk < kBlockN * kStep / 8; chunk += blockDim.x)
      copy_16(&bs[stage][chunk / 4][chunk % 4 * 8], b_transposed + (column0 + chunk / 4) * k + at + chunk % 4 * 8);
    asm volatile("cp.async.commit_group;\n");
  };
  float d[4] = {};
  fetch(0, 0);
  for (int at = 0, stage = 0; at < k; at += kStep, stage ^= 1) {
    if (at + kStep < k) {
      fetch(stage ^ 1, at + kStep);
      asm volatile("cp.async.wait_group 1;\n");
    } else {
      asm volatile("cp.async.wait_group 0;\n");
    }
    __syncthreads();
    for (int inner = 0; inner < kStep; inner += 16) {
      uint32_t fa[4], fb[2];
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
                   : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                   : "r"(shared_address(&as[stage][warp_m + lane % 16][inner + lane / 16 * 8])));
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];\n"
                   : "=r"(fb[0]), "=r"(fb[1])
                   : "r"(shared_address(&bs[stage][warp_n + lane % 8][inner + lane / 8 % 2 * 8])));
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                   : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    }
    __syncthreads();
  }
  const int row = row0 + warp_m + lane / 4, column = column0 + warp_n + lane % 4 * 2;
  *reinterpret_cast<float2*>(&c[row * n + column]) = make_float2(d[0], d[1]);
  *reinterpret_cast<float2*>(&c[(row + 8) * n + column]) = make_float2(d[2], d[3]);
}

int main() {
  const int m = 64, n = 48, k = 128;
  Numbers numbers;
  std::vector<half> a(m * k), b(n * k);
  for (half& v : a) v = __float2half(numbers.around());
  for (half& v : b) v = __float2half(numbers.around());
  std::vector<double> want(m * n, 0);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < k; ++l) want[i * n + j] += static_cast<double>(__half2float(a[i * k + l])) * __half2float(b[j * k + l]);
  OnDevice<half> da(a), db(b);
  OnDevice<float> dc(m * n);
  gemm<<<dim3(n / kBlockN, m / kBlockM), 128>>>(da.data, db.data, dc.data, m, n, k);
  expect_all_close(dc.host(), want, 1e-5, "c");
  return finish();
}
