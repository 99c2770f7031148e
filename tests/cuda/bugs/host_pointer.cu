#include "../check.h"

// The host's array instead of its copy on the device.
__global__ void sum(const float* in, float* out) {
  const float value = in[threadIdx.x];  // expect: out_of_bounds
  out[threadIdx.x] = value + 1;
}

int main() {
  std::vector<float> in(32, 1.0f);
  OnDevice<float> out(32);
  sum<<<1, 32>>>(in.data(), out.data);
  return 0;
}
