#include "../check.h"

// In place: a block reads elements that its neighbour is writing.
__global__ void shift(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int next = i + 64 < n ? data[i + 64] : 0;  // expect: global_race
  data[i] = next;  // expect: global_race
}

int main() {
  OnDevice<int> data(std::vector<int>(256, 1));
  shift<<<4, 64>>>(data.data, 256);
  return 0;
}
