// The settings that the baseline's and the candidate's processes share, so that a speedup compares kernels and not surroundings.
#pragma once

#include <map>
#include <string>

namespace kw {

// Memory that was given back stays with the process: page faults do not drown the kernel in either. OpenMP threads that wait
// spin for about a tenth of a millisecond and then sleep: long enough to be there for the next region, short enough that on a
// busy machine a waiting thread leaves its core to the one that it waits for. Where PyTorch's library of products has to be held
// to fewer instructions (base/onednn_limit.h), every process is held to the same.
std::map<std::string, std::string> timing_environment();

}  // namespace kw
