#include "../check.h"

// A vector load that begins at an odd element.
__global__ void copy(const float* in, float4* out) {
  out[threadIdx.x] = *reinterpret_cast<const float4*>(in + 1 + 4 * threadIdx.x);  // expect: misaligned
}

int main() {
  OnDevice<float> in(std::vector<float>(160, 1.0f));
  OnDevice<float4> out(32);
  copy<<<1, 32>>>(in.data, out.data);
  return 0;
}
