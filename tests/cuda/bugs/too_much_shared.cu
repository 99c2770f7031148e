#include "../check.h"

__global__ void fill(int* data) {
  extern __shared__ int s[];
  s[threadIdx.x] = 1;
  data[threadIdx.x] = s[threadIdx.x];
}

int main() {
  OnDevice<int> data(32);
  fill<<<1, 32, 64 * 1024>>>(data.data);  // expect: launch_limit
  return cudaGetLastError() == cudaErrorInvalidValue ? 0 : 1;
}
