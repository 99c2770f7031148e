#include "../check.h"

int main() {
  float* data = nullptr;
  CHECK_CUDA(cudaMalloc(&data, 64 * sizeof(float)));
  CHECK_CUDA(cudaFree(data));
  return cudaFree(data) == cudaErrorInvalidValue ? 0 : 1;  // expect: invalid_free
}
