#include "../check.h"

// An allocation that nobody made.
__global__ void fill(int* data) {
  data[threadIdx.x] = 1;  // expect: out_of_bounds
}

int main() {
  fill<<<1, 32>>>(nullptr);
  return 0;
}
