#include "../check.h"

// Only the first half of the array is set.
__global__ void sum(const float* in, float* out) {
  __shared__ float s[64];
  if (threadIdx.x < 32) s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  const float other = s[63 - threadIdx.x];  // expect: uninitialised
  out[threadIdx.x] = other;
}

int main() {
  OnDevice<float> in(std::vector<float>(64, 1.0f)), out(64);
  sum<<<1, 64>>>(in.data, out.data);
  return 0;
}
