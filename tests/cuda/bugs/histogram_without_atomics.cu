#include "../check.h"

// Several threads count into the same bin.
__global__ void histogram(const int* in, int* out) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  ++bins[in[threadIdx.x]];  // expect: shared_race
  __syncthreads();
  if (threadIdx.x < 16) out[threadIdx.x] = bins[threadIdx.x];
}

int main() {
  std::vector<int> in(128);
  for (int i = 0; i < 128; ++i) in[i] = i % 5;
  OnDevice<int> data(in), out(16);
  histogram<<<1, 128>>>(data.data, out.data);
  return 0;
}
