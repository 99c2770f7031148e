// An estimate of what a launch would take on a GPU, from exact counts and its data sheet; always an estimate, never a measurement.
// Pure functions. What it is made of is in docs/virtual-gpu.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "vgpu/counters.h"
#include "vgpu/gpu_sheet.h"
#include "vgpu/occupancy.h"

namespace kw::vgpu {

struct LaunchShape {
  std::uint64_t blocks = 1;
  int threads_per_block = 1;
  int registers = 0;                        // of a thread, as ptxas says; 0: unknown
  std::uint64_t shared = 0;                 // static and dynamic bytes of a block
  std::string tensor_kind = "tensor_fp16";  // which peak its mma instructions have, see tensor_kind_of
};

struct ResourceTime {
  std::string resource;  // issue, fp32, fp64, fp16, integer, special functions, tensor, shared memory, l1, l2, memory, atomics,
                         // latency, launch
  double seconds = 0;    // if nothing else limited it, at the published rate
  double share = 0;      // of the estimated time: 1 would be at the speed of light of this resource
};

struct Estimate {
  double seconds = 0;
  std::string limiting;                 // the resource with the largest share
  double share_of_speed_of_light = 0;   // the largest share among the throughputs, without latency and launch
  std::vector<ResourceTime> resources;  // all with any use, the largest first
  Occupancy occupancy;
  double waves = 0;                // blocks over what the GPU holds at once
  std::vector<std::string> notes;  // what the sheet does not publish and was assumed, and what stands out
};

Estimate estimate_launch(const GpuSheet& sheet, const LineCounters& counters, const LaunchShape& shape);

// So many copies and fills within the device.
double estimate_moves(const GpuSheet& sheet, std::size_t moves, std::uint64_t bytes);

// The peak that PTX's mma instructions fall under: the slowest type that occurs in the text of a kernel; "tensor_fp16" without any.
std::string tensor_kind_of(std::string_view ptx);

void to_json(Json& json, const Estimate& estimate);

}  // namespace kw::vgpu
