#include "base/timing_environment.h"

#include "base/onednn_limit.h"

namespace kw {

std::map<std::string, std::string> timing_environment() {
  std::map<std::string, std::string> settings{{"MALLOC_MMAP_THRESHOLD_", "4294967296"},
                                              {"MALLOC_TRIM_THRESHOLD_", "34359738368"},
                                              {"MALLOC_TOP_PAD_", "16777216"},
                                              {"GOMP_SPINCOUNT", "10000"}};
  if (const std::string limit = onednn_limit(); !limit.empty()) settings[kOneDnnVariable] = limit;
  return settings;
}

}  // namespace kw
