// What a call should take on a GPU that is not here, from counts of the virtual GPU and a data sheet: always an estimate, never a
// measurement.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace kw {

// What a data sheet promises a kernel, by the precision that its contract allows: the roof that estimates stand below.
struct GpuCeilings {
  std::string gpu_name;
  double memory_gbytes_per_second = 0;
  double l2_gbytes_per_second = 0;  // 0: not published
  std::string peak_name;            // "fp32", "tensor_tf32"
  double peak_gflops = 0;
};

struct ResourceShare {
  std::string resource;
  double seconds = 0;  // if nothing else limited it
  double share = 0;    // of the estimated time
};

// All launches of one kernel with one shape.
struct LaunchEstimate {
  std::string kernel;  // in words
  int launches = 1;
  std::vector<std::uint32_t> grid, block;
  std::int64_t shared_bytes = 0;
  int registers = 0;    // of a thread; 0: unknown
  int spill_bytes = 0;  // as ptxas says
  double seconds = 0;   // of all
  std::string limiting;
  double share_of_speed_of_light = 0;
  double occupancy = 0;  // of the warps that an SM could hold
  std::string occupancy_limiter;
  double waves = 0;
  std::vector<ResourceShare> resources;  // of one launch, the largest first
  std::vector<std::string> notes;
  Json counters;  // of one launch
};

struct EstimateRecord {
  std::string gpu;                     // the data sheet's id
  std::string gpu_name;                // "NVIDIA A100 SXM 40 GB"
  double seconds = 0;                  // of a call
  std::string limiting;                // the resource that takes most of it
  double share_of_speed_of_light = 0;  // of the busiest resource, over the launches by their time
  double floor_seconds = 0;            // of the roofline: compulsory bytes and FLOPs at the published rates
  double share_of_ceiling = 0;         // floor_seconds over seconds
  std::string zone;
  std::vector<LaunchEstimate> launches;
  std::vector<std::string> notes;
};

void to_json(Json& json, const GpuCeilings& ceilings);
void from_json(const Json& json, GpuCeilings& ceilings);
void to_json(Json& json, const ResourceShare& share);
void from_json(const Json& json, ResourceShare& share);
void to_json(Json& json, const LaunchEstimate& launch);
void from_json(const Json& json, LaunchEstimate& launch);
void to_json(Json& json, const EstimateRecord& estimate);
void from_json(const Json& json, EstimateRecord& estimate);

}  // namespace kw
