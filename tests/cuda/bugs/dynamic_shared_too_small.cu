#include "../check.h"

// The launch asks for bytes where it should ask for floats.
__global__ void reverse(float* data) {
  extern __shared__ float s[];
  s[threadIdx.x] = data[threadIdx.x];  // expect: out_of_bounds
  __syncthreads();
  data[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

int main() {
  OnDevice<float> data(std::vector<float>(64, 1.0f));
  reverse<<<1, 64, 64>>>(data.data);
  return 0;
}
