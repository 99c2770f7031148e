// A machine's measured ceilings.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace kw {

struct FmaPeak {
  std::string isa;  // sse2, avx2, avx512, neon
  int threads = 1;
  double gflops = 0;  // float32, multiply and add counted as two
};

struct BandwidthPoint {
  std::string pattern;  // read, write, copy, triad
  int threads = 1;
  double working_set_bytes = 0;  // of all threads together
  double gbytes_per_second = 0;  // bytes that the program moves; write-allocate traffic is not counted
};

struct Machine {
  std::string id;                 // sha256 of what identifies it: model, flags, caches, cores
  std::string cpu_model;          // as /proc/cpuinfo says
  int cores = 1;                  // that this process may use
  std::vector<std::string> isas;  // sse2, avx2, fma, avx512f, neon, ...
  std::string widest_isa;
  double l1d_bytes = 0, l2_bytes = 0, l3_bytes = 0;  // per core, per core, all that is shared
  double memory_bytes = 0;
  std::vector<FmaPeak> peaks;
  std::vector<BandwidthPoint> bandwidth;
  double openmp_region_seconds = 0;  // an empty parallel region with all threads
  std::string measured_at;           // UTC, ISO 8601
};

void to_json(Json& json, const FmaPeak& peak);
void from_json(const Json& json, FmaPeak& peak);
void to_json(Json& json, const BandwidthPoint& point);
void from_json(const Json& json, BandwidthPoint& point);
void to_json(Json& json, const Machine& machine);
void from_json(const Json& json, Machine& machine);

}  // namespace kw
