#include "../check.h"

// The last thread looks at a neighbour that is not there.
__global__ void differences(const float* in, float* out, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  const float next = in[i + 1];  // expect: out_of_bounds
  out[i] = next - in[i];
}

int main() {
  OnDevice<float> in(std::vector<float>(64, 1.0f)), out(64);
  differences<<<1, 64>>>(in.data, out.data, 64);
  return 0;
}
