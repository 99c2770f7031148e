#include "../check.h"

// Every block adds to one sum without an atomic.
__global__ void total(const float* in, float* sum) {
  if (threadIdx.x == 0)
    *sum = *sum + in[blockIdx.x];  // expect: global_race
}

int main() {
  OnDevice<float> in(std::vector<float>(32, 1.0f)), sum(std::vector<float>{0});
  total<<<32, 32>>>(in.data, sum.data);
  return 0;
}
