#include "record/estimate.h"

namespace kw {

KW_JSON_FIELDS(GpuCeilings, gpu_name, memory_gbytes_per_second, l2_gbytes_per_second, peak_name, peak_gflops)
KW_JSON_FIELDS(ResourceShare, resource, seconds, share)
KW_JSON_FIELDS(LaunchEstimate, kernel, launches, grid, block, shared_bytes, registers, spill_bytes, seconds, limiting,
               share_of_speed_of_light, occupancy, occupancy_limiter, waves, resources, notes, counters)
KW_JSON_FIELDS(EstimateRecord, gpu, gpu_name, seconds, limiting, share_of_speed_of_light, floor_seconds, share_of_ceiling, zone,
               launches, notes)

}  // namespace kw
