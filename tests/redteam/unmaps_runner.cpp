// Unmaps the page that its own stack is in.
#include <sys/mman.h>

#include "problem.h"

extern "C" void kw_kernel(const float* x, float* out) {
  (void)x;
  volatile char here = 0;
  munmap(reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(&here) & ~4095ul), 4096);
  out[0] = here;
}
