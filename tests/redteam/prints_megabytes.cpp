// Prints 64 MB to both streams and computes nothing.
#include <cstdio>

#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
  (void)x, (void)out;
  for (int i = 0; i < 1 << 20; ++i) {
    std::puts("{\"event\": \"done\"} {}{}{");
    std::fputs("\x1b[2J\xff\xfe not UTF-8 \n", stderr);
  }
}
