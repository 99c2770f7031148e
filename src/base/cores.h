// The cores that this process, or one of its threads, runs on.
#pragma once

#include <vector>

namespace kw {

// The numbers of those that the calling thread may use, in order; at least one.
std::vector<int> usable_cores();
// The first `count` of them, or all.
std::vector<int> usable_cores(int count);

// The calling thread uses this core only, as far as the system lets it.
void stay_on_core(int core);

}  // namespace kw
