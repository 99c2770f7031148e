#include "../check.h"

__global__ void fill(int* data) { data[threadIdx.x] = 1; }

int main() {
  OnDevice<int> data(2048);
  fill<<<1, 2048>>>(data.data);  // expect: launch_limit
  return cudaGetLastError() == cudaErrorInvalidConfiguration ? 0 : 1;
}
