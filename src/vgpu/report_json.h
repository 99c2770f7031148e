// Reports of launches as JSON: how a program under the virtual GPU tells what its kernels did to whoever started it.
#pragma once

#include "base/json.h"
#include "vgpu/device.h"

namespace kw::vgpu {

// One launch, with what is needed to estimate its time elsewhere.
struct LaunchRecord {
  int index = 0;       // from 1, in the order of launches
  std::string kernel;  // as in PTX
  Dim3 grid, block;
  std::uint32_t dynamic_shared = 0, static_shared = 0, local_bytes = 0;
  int registers = 0;        // of a thread, from ptxas; 0: unknown
  std::string tensor_kind;  // the peak of its mma instructions
  LaunchReport report;
};

// What a program under the virtual GPU reported.
struct ProgramReport {
  std::vector<LaunchRecord> launches;
  std::vector<Finding> findings;    // of launches and of calls on the host
  std::vector<std::string> errors;  // what the virtual GPU could not do
  std::size_t moves = 0;            // copies and fills within the device
  std::uint64_t moved_bytes = 0;    // that they read and wrote
};
// From JSON lines.
Result<ProgramReport> parse_program_report(const std::string& lines);

void to_json(Json& json, const Dim3& dim);
void from_json(const Json& json, Dim3& dim);
void to_json(Json& json, const Finding& finding);
void from_json(const Json& json, Finding& finding);
void to_json(Json& json, const LineCounters& counters);  // only what is not 0
void from_json(const Json& json, LineCounters& counters);
void to_json(Json& json, const Counters& counters);
void from_json(const Json& json, Counters& counters);
void to_json(Json& json, const LaunchRecord& record);
void from_json(const Json& json, LaunchRecord& record);

}  // namespace kw::vgpu
