// What this process can find out about its CPU without measuring: model, usable cores, instruction sets, caches,
// memory. It never times anything and never fails: what the system does not tell stays 0.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"

namespace kw {

struct CpuInfo {
  std::string model;
  int cores = 1;                  // allowed by the affinity mask and by the container's CPU quota
  std::vector<std::string> isas;  // sse2, avx2, fma, avx512f, neon, ...
  double l1d_bytes = 0;           // of one core
  double l2_bytes = 0;            // of one core
  double l3_bytes = 0;            // all L3s that the usable cores reach, together
  double l3_of_one_core_bytes = 0;
  double memory_bytes = 0;  // physical, or the container's limit

  [[nodiscard]] bool has(std::string_view isa) const;
};

// `root` is where /proc and /sys are looked for.
CpuInfo detect_cpu(const fs::path& root = "/");

// The vector instruction sets whose peak is worth knowing, narrowest first: sse2, avx2, avx512; or neon.
std::vector<std::string> vector_isas(const CpuInfo& cpu);

// Names the machine: another model, instruction set, cache or number of usable cores is another machine.
std::string machine_id(const CpuInfo& cpu);

}  // namespace kw
