#include "../check.h"

// Counts of bytes: atomics in shared memory, then in global memory; vector loads of four bytes.
__global__ void histogram(const uchar4* data, int n4, unsigned* counts) {
  __shared__ unsigned local[256];
  for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) local[bin] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
    const uchar4 v = data[i];
    atomicAdd(&local[v.x], 1u);
    atomicAdd(&local[v.y], 1u);
    atomicAdd(&local[v.z], 1u);
    atomicAdd(&local[v.w], 1u);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < 256; bin += blockDim.x)
    if (local[bin] != 0) atomicAdd(&counts[bin], local[bin]);
}

int main() {
  const int n = 16384;
  Numbers numbers;
  std::vector<unsigned char> data(n);
  std::vector<unsigned> want(256, 0);
  for (auto& byte : data) byte = static_cast<unsigned char>((numbers.bits() >> 24) & (numbers.bits() >> 16)), ++want[byte];
  OnDevice<unsigned char> ddata(data);
  OnDevice<unsigned> counts(256);
  CHECK_CUDA(cudaMemset(counts.data, 0, 256 * sizeof(unsigned)));
  histogram<<<4, 128>>>(reinterpret_cast<uchar4*>(ddata.data), n / 4, counts.data);
  expect_all_close(counts.host(), want, 0, "count");
  return finish();
}
