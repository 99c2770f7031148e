// Honest, though a naive text search would refuse it: system("rm"), fork(), socket, /proc/self/mem, dlopen, ptrace.
/* #include </etc/passwd>
   asm volatile("syscall"); std::thread t; exec, exit(0), mmap, clock_gettime */
#include "problem.h"

namespace {
struct Road {
  float fork = 0;    // where two values part
  float socket = 0;  // what the factor plugs into
};
const char* const kNote = "system(\"true\"); #include \"/etc/shadow\" // not code, std::thread";
const char* const kRaw = R"(asm("syscall"); popen("ls"); #include </dev/zero>)";
float exec(const Road& road) { return road.fork > 0 ? road.fork * road.socket : 0.0f; }
}  // namespace

extern "C" void kw_kernel(const float* x, float* out) {
  const float system = kNote[0] == 's' && kRaw[0] == 'a' ? 2.5f : 0.0f;
  for (std::int64_t signal = 0; signal < x_numel; ++signal) {
    Road open{x[signal], system};
    out[signal] = exec(open);
  }
}
