#include "../check.h"

// printf of kernels, with every kind of value; one thread, so that the order is known.
__global__ void speak(int n, float x, const char* text) {
  printf("int %d %u %5d|%-5d|%05d %x %lld %llu %c\n", n, 4000000000u, n, n, n, n, -5000000000ll, 10000000000ull, 'k');
  printf("float %f %.3e %g %8.2f|\n", x, x, x, x);
  printf("text %s and 100%%\n", "in the kernel");
  if (text == nullptr) printf("no text\n");
}

int main() {
  speak<<<1, 1>>>(42, 1.5f, nullptr);
  return finish();
}
