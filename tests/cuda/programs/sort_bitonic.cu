#include <algorithm>

#include "../check.h"

// Bitonic sort: steps inside a block in shared memory, the larger ones in global memory.
constexpr int kBlock = 256;

__global__ void sort_block(unsigned* keys, int size, int begin_stride) {
  __shared__ unsigned s[kBlock];
  const int i = blockIdx.x * kBlock + threadIdx.x;
  s[threadIdx.x] = keys[i];
  __syncthreads();
  for (int stride = begin_stride; stride > 0; stride /= 2) {
    const int partner = threadIdx.x ^ stride;
    const bool up = (i & size) == 0;
    unsigned mine = s[threadIdx.x], other = s[partner];
    __syncthreads();
    if ((mine > other) == (up == (threadIdx.x < partner))) mine = other;
    s[threadIdx.x] = mine;
    __syncthreads();
  }
  keys[i] = s[threadIdx.x];
}

__global__ void sort_step(unsigned* keys, int size, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, partner = i ^ stride;
  if (partner <= i) return;
  const unsigned a = keys[i], b = keys[partner];
  if ((a > b) == ((i & size) == 0)) keys[i] = b, keys[partner] = a;
}

int main() {
  const int n = 2048;
  Numbers numbers;
  std::vector<unsigned> keys(n);
  for (unsigned& key : keys) key = numbers.bits() >> 5;
  OnDevice<unsigned> device(keys);
  for (int size = 2; size <= n; size *= 2) {
    int stride = size / 2;
    for (; stride >= kBlock; stride /= 2) sort_step<<<n / kBlock, kBlock>>>(device.data, size, stride);
    sort_block<<<n / kBlock, kBlock>>>(device.data, size, stride);
  }
  std::sort(keys.begin(), keys.end());
  expect_all_close(device.host(), keys, 0, "sorted");
  return finish();
}
