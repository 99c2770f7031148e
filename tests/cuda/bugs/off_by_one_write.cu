#include "../check.h"

// The guard lets one thread too many through.
__global__ void fill(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n)
    out[i] = i;  // expect: out_of_bounds
}

int main() {
  OnDevice<int> out(100);
  fill<<<1, 128>>>(out.data, 100);
  return 0;
}
