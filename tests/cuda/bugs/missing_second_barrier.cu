#include "../check.h"

// The tile is overwritten while slower warps still read the last one.
__global__ void sums(const float* in, float* out, int tiles) {
  __shared__ float tile[128];
  float sum = 0;
  for (int t = 0; t < tiles; ++t) {
    tile[threadIdx.x] = in[t * 128 + threadIdx.x];  // expect: shared_race
    __syncthreads();
    sum += tile[(threadIdx.x + 64) % 128];  // expect: shared_race
  }
  out[threadIdx.x] = sum;
}

int main() {
  OnDevice<float> in(std::vector<float>(512, 1.0f)), out(128);
  sums<<<1, 128>>>(in.data, out.data, 4);
  return 0;
}
