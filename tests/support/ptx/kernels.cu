// Kernels of the tests of the virtual GPU. kernels.ptx is made from it, so that the tests need no nvcc:
//   nvcc -ptx -lineinfo -arch=compute_80 -std=c++17 kernels.cu -o kernels.ptx
#include <cassert>
#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

extern "C" {

__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

// One line too far: no test of i < n.
__global__ void saxpy_unbounded(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = a * x[i] + y[i];
}

__global__ void block_sum(int n, const float* x, float* total) {
  __shared__ float partial[32];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0f;
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (threadIdx.x == 0) atomicAdd(total, sum);
  }
}

// The barrier between writing and reading is missing.
__global__ void reverse_racy(int n, const float* x, float* y) {
  __shared__ float tile[256];
  tile[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = tile[n - 1 - threadIdx.x];
}

__global__ void tiled_product(int n, const float* a, const float* b, float* c) {
  __shared__ float left[16][16], right[16][17];
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    left[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void histogram(int n, const unsigned char* x, unsigned* bins) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[x[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], local[i]);
}

// Lanes of a warp take a lock one after the other: needs threads that are scheduled independently.
__global__ void locked_sum(int* lock, int* sum) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  *(volatile int*)sum = *(volatile int*)sum + 1;
  __threadfence();
  atomicExch(lock, 0);
}

// Every block waits for all the others, twice.
__global__ void grid_wait(unsigned* arrived, int* data, int* out) {
  if (threadIdx.x == 0) data[blockIdx.x] = blockIdx.x + 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1u);
    while (*(volatile unsigned*)arrived < gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int i = 0; i < (int)gridDim.x; ++i) sum += data[i];
    out[blockIdx.x] = sum;
  }
}

__device__ __noinline__ int factorial(int n) { return n <= 1 ? 1 : n * factorial(n - 1); }
__device__ __noinline__ float twice(float x) { return 2 * x; }
__device__ __noinline__ float thrice(float x) { return 3 * x; }
typedef float (*unary)(float);
__device__ unary table[2] = {twice, thrice};

__global__ void calls(int* facts, float* values) {
  facts[threadIdx.x] = factorial(threadIdx.x % 8);
  values[threadIdx.x] = table[threadIdx.x % 2](values[threadIdx.x]);
}

__global__ void choose(const int* which, int* out) {
  int i = threadIdx.x, v = 0;
  switch (which[i]) {
    case 0: v = i * 7; break;
    case 1: v = i + 1000; break;
    case 2: v = -i; break;
    case 3: v = i * i; break;
    case 4: v = i ^ 0x55; break;
    case 5: for (int k = 0; k < i; ++k) v += k * which[0]; break;
    default: v = 42; break;
  }
  out[i] = v;
}

__global__ void talk(int n, float x) {
  if (threadIdx.x < 2) printf("thread %d of %s: %5.2f %lld%%\n", threadIdx.x, "talk", x, 1ll << 40);
  assert(n < 5);
}

__global__ void half_axpy(int n, const __half2* x, __half2* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hfma2(x[i], __float2half2_rn(2.0f), y[i]);
}

__global__ void async_copy(const float4* x, float4* y) {
  __shared__ float4 tile[128];
  __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  y[threadIdx.x] = tile[127 - threadIdx.x];
}

// The wait is missing.
__global__ void async_copy_unwaited(const float4* x, float4* y) {
  __shared__ float4 tile[128];
  __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], 16);
  __pipeline_commit();
  __syncthreads();
  y[threadIdx.x] = tile[127 - threadIdx.x];
}

__global__ void barrier_of_even_threads(float* y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = threadIdx.x;
  if (threadIdx.x % 2 == 0) {
    __syncthreads();
    y[threadIdx.x] = tile[(threadIdx.x + 33) % 64];
  }
}

__global__ void read_uninitialised(const float* x, float* y) {
  __shared__ float tile[64];
  if (threadIdx.x < 32) tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x];
}

__global__ void misaligned(const char* x, float4* y) { y[threadIdx.x] = *(const float4*)(x + 4 + 16 * threadIdx.x); }

__global__ void stencil_in_place(int n, float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 < n) x[i] = x[i] + x[i + 1];
}

__global__ void strided(int stride, const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x * stride]; }

__global__ void banks(int stride, float* y) {
  extern __shared__ float words[];
  words[threadIdx.x * stride] = threadIdx.x;
  __syncthreads();
  y[threadIdx.x] = words[threadIdx.x * stride];
}

__global__ void forever(volatile int* flag) {
  while (*flag == 0) {
  }
}
}
