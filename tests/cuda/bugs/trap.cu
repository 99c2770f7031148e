#include "../check.h"

__global__ void check(const int* in) {
  if (in[threadIdx.x] < 0)
    __trap();  // expect: trap
}

int main() {
  OnDevice<int> data(std::vector<int>(32, -1));
  check<<<1, 32>>>(data.data);
  return cudaDeviceSynchronize() == cudaErrorLaunchFailure ? 0 : 1;
}
