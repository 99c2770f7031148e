#include "../check.h"

// The sum begins with whatever cudaMalloc gave.
__global__ void accumulate(const float* in, float* out) {
  const float old = out[threadIdx.x];  // expect: uninitialised
  out[threadIdx.x] = old + in[threadIdx.x];
}

int main() {
  OnDevice<float> in(std::vector<float>(64, 1.0f)), out(64);
  accumulate<<<1, 64>>>(in.data, out.data);
  return 0;
}
