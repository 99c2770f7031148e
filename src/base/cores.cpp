#include "base/cores.h"

#include <sched.h>
#include <algorithm>

namespace kw {

std::vector<int> usable_cores() {
  // The call fails until there is room for as many cores as the system was built for.
  for (int capacity = 1024; capacity <= 1 << 16; capacity *= 2) {
    cpu_set_t* set = CPU_ALLOC(capacity);
    const std::size_t size = CPU_ALLOC_SIZE(capacity);
    CPU_ZERO_S(size, set);
    const bool read = ::sched_getaffinity(0, size, set) == 0;
    std::vector<int> cores;
    for (int core = 0; read && core < capacity; ++core)
      if (CPU_ISSET_S(core, size, set)) cores.push_back(core);
    CPU_FREE(set);
    if (!cores.empty()) return cores;
  }
  return {0};
}

std::vector<int> usable_cores(int count) {
  auto cores = usable_cores();
  cores.resize(std::min(cores.size(), static_cast<std::size_t>(std::max(count, 0))));
  return cores;
}

void stay_on_core(int core) {
  const int capacity = std::max(core + 1, CPU_SETSIZE);
  cpu_set_t* set = CPU_ALLOC(capacity);
  const std::size_t size = CPU_ALLOC_SIZE(capacity);
  CPU_ZERO_S(size, set);
  CPU_SET_S(core, size, set);
  (void)::sched_setaffinity(0, size, set);
  CPU_FREE(set);
}

}  // namespace kw
