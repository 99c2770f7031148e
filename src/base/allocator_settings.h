// The allocator settings that the baseline and the candidate share: memory that was given back stays with the process,
// so that page faults do not drown the kernel in either.
#pragma once

#include <map>
#include <string>

namespace kw {

inline std::map<std::string, std::string> allocator_settings() {
  return {{"MALLOC_MMAP_THRESHOLD_", "4294967296"}, {"MALLOC_TRIM_THRESHOLD_", "34359738368"}, {"MALLOC_TOP_PAD_", "16777216"}};
}

}  // namespace kw
