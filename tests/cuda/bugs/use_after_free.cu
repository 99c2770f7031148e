#include "../check.h"

// The memory was given back before the launch.
__global__ void scale(float* data) {
  data[threadIdx.x] *= 2;  // expect: out_of_bounds
}

int main() {
  float* data = nullptr;
  CHECK_CUDA(cudaMalloc(&data, 32 * sizeof(float)));
  CHECK_CUDA(cudaMemset(data, 0, 32 * sizeof(float)));
  CHECK_CUDA(cudaFree(data));
  scale<<<1, 32>>>(data);
  return 0;
}
