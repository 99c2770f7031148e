#include "../check.h"

// Each thread reads what another wrote, with no barrier between.
__global__ void reverse(int* data) {
  __shared__ int s[128];
  s[threadIdx.x] = data[threadIdx.x];  // expect: shared_race
  data[threadIdx.x] = s[127 - threadIdx.x];  // expect: shared_race, perhaps uninitialised
}

int main() {
  OnDevice<int> data(std::vector<int>(128, 3));
  reverse<<<1, 128>>>(data.data);
  return 0;
}
