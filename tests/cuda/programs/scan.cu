#include "../check.h"

// Inclusive prefix sums of any length in three launches: blocks, their totals, and the offsets added.
__global__ void scan_blocks(const int* in, int* out, int* totals, int n) {
  extern __shared__ int buffer[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int* from = buffer;
  int* to = buffer + blockDim.x;
  from[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int offset = 1; offset < blockDim.x; offset *= 2) {
    to[threadIdx.x] = from[threadIdx.x] + (threadIdx.x >= offset ? from[threadIdx.x - offset] : 0);
    __syncthreads();
    int* swap = from;
    from = to;
    to = swap;
  }
  if (i < n) out[i] = from[threadIdx.x];
  if (threadIdx.x == blockDim.x - 1 && totals != nullptr) totals[blockIdx.x] = from[threadIdx.x];
}

__global__ void add_offsets(int* out, const int* totals, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x > 0 && i < n) out[i] += totals[blockIdx.x - 1];
}

int main() {
  const int n = 5000, threads = 128, blocks = (n + threads - 1) / threads;
  Numbers numbers;
  std::vector<int> in(n), want(n);
  int sum = 0;
  for (int i = 0; i < n; ++i) in[i] = static_cast<int>(numbers.bits() % 100) - 20, want[i] = sum += in[i];
  OnDevice<int> din(in), dout(n), totals(blocks), scanned(blocks);
  scan_blocks<<<blocks, threads, 2 * threads * sizeof(int)>>>(din.data, dout.data, totals.data, n);
  scan_blocks<<<1, 64, 2 * 64 * sizeof(int)>>>(totals.data, scanned.data, nullptr, blocks);
  add_offsets<<<blocks, threads>>>(dout.data, scanned.data, n);
  expect_all_close(dout.host(), want, 0, "scan");
  return finish();
}
