#include "../check.h"

#include <cassert>

__global__ void check(const int* in) {
  assert(in[threadIdx.x] >= 0);  // expect: assert
}

int main() {
  std::vector<int> in(32, 1);
  in[7] = -1;
  OnDevice<int> data(in);
  check<<<1, 32>>>(data.data);
  return cudaDeviceSynchronize() == cudaErrorAssert ? 0 : 1;
}
