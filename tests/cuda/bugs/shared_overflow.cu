#include "../check.h"

// The halo has no room.
__global__ void stencil(const float* in, float* out) {
  __shared__ float tile[64];
  tile[threadIdx.x + 1] = in[threadIdx.x];  // expect: out_of_bounds
  __syncthreads();
  if (threadIdx.x > 0) out[threadIdx.x] = tile[threadIdx.x];
}

int main() {
  OnDevice<float> in(std::vector<float>(64, 1.0f)), out(64);
  stencil<<<1, 64>>>(in.data, out.data);
  return 0;
}
