#include "../check.h"

// The index does not fit 32 bits and becomes negative.
__global__ void touch(float* data, int pitch) {
  const int index = (blockIdx.x * 32 + threadIdx.x) * pitch;
  if (index < 4096)
    data[index] = 1;  // expect: out_of_bounds
}

int main() {
  OnDevice<float> data(4096);
  touch<<<1, 32>>>(data.data, 100000000);
  return 0;
}
