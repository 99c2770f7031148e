#include "../check.h"

// A barrier that only some threads of the block reach.
__global__ void sum(const float* in, float* out) {
  __shared__ float s[64];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 20) {
    s[threadIdx.x] += 1;
    __syncthreads();  // expect: divergent_barrier, perhaps deadlock
  }
  out[threadIdx.x] = s[threadIdx.x];
}

int main() {
  OnDevice<float> in(std::vector<float>(64, 1.0f)), out(64);
  sum<<<1, 64>>>(in.data, out.data);
  return 0;
}
