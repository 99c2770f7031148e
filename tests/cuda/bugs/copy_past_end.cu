#include "../check.h"

// The copy is as long as the host's array.
int main() {
  std::vector<float> host(100, 1.0f);
  float* data = nullptr;
  CHECK_CUDA(cudaMalloc(&data, 64 * sizeof(float)));
  return cudaMemcpy(data, host.data(), 100 * sizeof(float), cudaMemcpyHostToDevice) == cudaErrorInvalidValue ? 0 : 1;  // expect: out_of_bounds
}
