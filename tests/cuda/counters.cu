#include <cuda_fp16.h>
#include <mma.h>

#include "check.h"

// Kernels whose counts are known by hand; test_counters.py has the numbers.
__global__ void coalesced(const float* in, float* out) { out[blockIdx.x * 128 + threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x]; }
__global__ void coalesced_vector(const float4* in, float4* out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void strided(const float* in, float* out, int stride) { out[threadIdx.x] = in[threadIdx.x * stride]; }
__global__ void shifted(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x + 1]; }
__global__ void one_address(const float* in, float* out) { out[threadIdx.x] = in[0]; }
__global__ void gathered(const float* in, const int* index, float* out) { out[threadIdx.x] = in[index[threadIdx.x]]; }

template <int Stride>
__global__ void bank_conflicts(float* out) {
  __shared__ float s[32 * Stride];
  for (int i = 0; i < Stride; ++i) s[i * 32 + threadIdx.x] = i;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x * Stride];
}

// Half of each warp goes round a loop that the other half skips.
__global__ void divergent(const int* in, int* out) {
  int v = in[threadIdx.x];
  if (threadIdx.x % 32 < 16)
#pragma unroll 1
    for (int i = 0; i < 10; ++i) v = v * v + in[i];
  out[threadIdx.x] = v;
}

__global__ void additions(float* out, float x) {
  float v = threadIdx.x;
#pragma unroll
  for (int i = 0; i < 100; ++i) v = fmaf(v, x, 1.0f);
  out[threadIdx.x] = v;
}

__global__ void barriers(int* out) {
  __shared__ int s[128];
  s[threadIdx.x] = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < 5; ++i) __syncthreads();
  out[threadIdx.x] = s[threadIdx.x ^ 1];
}

__global__ void atomics(int* out) { atomicAdd(&out[threadIdx.x % 4], static_cast<int>(threadIdx.x)); }

__global__ void product(const half* a, const half* b, float* c) {
  using namespace nvcuda;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < 64; k += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::load_matrix_sync(fa, a + k, 64);
    wmma::load_matrix_sync(fb, b + k * 16, 16);
    wmma::mma_sync(sum, fa, fb, sum);
  }
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

int main() {
  std::vector<int> index(32);
  for (int i = 0; i < 32; ++i) index[i] = (i * 5 + 3) % 32 * 8;  // each in a sector of its own
  OnDevice<float> in(std::vector<float>(4096, 1.0f)), out(4096);
  OnDevice<int> dindex(index), iin(std::vector<int>(128, 1)), iout(std::vector<int>(128, 0));
  OnDevice<half> a(std::vector<half>(16 * 64, __float2half(1.0f))), b(std::vector<half>(64 * 16, __float2half(1.0f)));
  coalesced<<<2, 128>>>(in.data, out.data);
  coalesced_vector<<<1, 32>>>(reinterpret_cast<float4*>(in.data), reinterpret_cast<float4*>(out.data));
  strided<<<1, 32>>>(in.data, out.data, 2);
  strided<<<1, 64>>>(in.data, out.data, 32);
  shifted<<<1, 32>>>(in.data, out.data);
  one_address<<<1, 32>>>(in.data, out.data);
  gathered<<<1, 32>>>(in.data, dindex.data, out.data);
  bank_conflicts<1><<<1, 32>>>(out.data);
  bank_conflicts<2><<<1, 32>>>(out.data);
  bank_conflicts<3><<<1, 32>>>(out.data);
  bank_conflicts<8><<<1, 32>>>(out.data);
  bank_conflicts<32><<<1, 32>>>(out.data);
  divergent<<<1, 64>>>(iin.data, iout.data);
  additions<<<3, 64>>>(out.data, 0.5f);
  barriers<<<2, 128>>>(iout.data);
  atomics<<<1, 64>>>(iout.data);
  product<<<1, 32>>>(a.data, b.data, out.data);
  return finish();
}
