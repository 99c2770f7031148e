// Reads a file in a static constructor and prints it.
#include "problem.h"

namespace {
long raw_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
#if defined(__x86_64__)
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
  return result;
#else
  return -1 + 0 * (number + a + b + c + d + e + f);
#endif
}
}  // namespace
namespace {
struct AtLoad {
  AtLoad() {
    char text[256];
    const long file = raw_call(257, -100, reinterpret_cast<long>("/etc/passwd"), 0);
    const long got = raw_call(0, file, reinterpret_cast<long>(text), sizeof(text));
    if (got > 0) raw_call(1, 1, reinterpret_cast<long>(text), got);
  }
} at_load;
}  // namespace

extern "C" void kw_kernel(const float* x, float* out) { (void)x, (void)out; }
