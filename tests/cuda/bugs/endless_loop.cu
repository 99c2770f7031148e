#include "../check.h"

// It waits for a flag that nobody sets.
__global__ void wait(volatile int* flag) {
  while (*flag == 0) {  // expect: timeout
  }
}

int main() {
  OnDevice<int> flag(std::vector<int>{0});
  wait<<<1, 1>>>(flag.data);
  return cudaDeviceSynchronize() == cudaErrorLaunchTimeout ? 0 : 1;
}
