#include "../check.h"

// A 64-bit counter in the middle of 32-bit ones.
__global__ void count(unsigned* counters) {
  atomicAdd(reinterpret_cast<unsigned long long*>(counters + 1), 1ull);  // expect: misaligned
}

int main() {
  OnDevice<unsigned> counters(std::vector<unsigned>(8, 0u));
  count<<<1, 32>>>(counters.data);
  return 0;
}
