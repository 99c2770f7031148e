// What a right kernel in CUDA should take on a GPU that is not here: one call counted on the virtual GPU, and the data sheet. It
// measures no time.
#pragma once

#include <functional>

#include "dsl/candidate.h"
#include "dsl/session.h"
#include "problem/tensor_sets.h"
#include "record/estimate.h"
#include "vgpu/gpu_sheet.h"

namespace kw {

// What the check of the counted call's outputs said.
struct CountedOutputs {
  std::optional<RunFailure> failure;
  bool compared = true;  // false: it was a sample of the call's blocks that tells nothing
};
using CountedCheck = std::function<Result<CountedOutputs>(Session&, const TensorSet&, const GpuReport&)>;

struct EstimateOptions {
  sandbox::Mode mode = sandbox::Mode::bubblewrap;
  int threads = 1;
  std::vector<int> cores;
  std::string precision = "float32";
  std::optional<double> call_timeout;
  std::uint64_t seed = 0;  // of what no GPU promises, such as the blocks that a sample takes
  CountedCheck check;
  std::function<void(std::string_view)> progress;
};

// An estimate, or what went wrong in the call.
struct Estimation {
  std::optional<EstimateRecord> estimate;
  Verdict verdict = Verdict::passed;
  Diagnosis diagnosis;
};

// The candidate must have been compiled.
Result<Estimation> estimate_on_gpu(const Candidate& candidate, const ProblemDescription& problem, const TensorSet& set,
                                   const vgpu::GpuSheet& sheet, const EstimateOptions& options);

// From the report of a call; a pure function.
Result<EstimateRecord> estimate_of_report(const std::string& report_lines, const std::string& facts,
                                          const ProblemDescription& problem, const vgpu::GpuSheet& sheet,
                                          const std::string& precision);

// An estimate that cannot be: less time than the bytes take without which the output cannot be right. A pure function.
std::optional<Diagnosis> too_fast_to_be_true(const EstimateRecord& estimate, const ProblemDescription& problem,
                                             const vgpu::GpuSheet& sheet);

// Where a problem stands on a GPU: compulsory bytes and FLOPs at the published rates that a contract allows.
struct GpuRoofline {
  double floor_seconds = 0;
  std::string zone;
};
GpuCeilings ceilings_of(const vgpu::GpuSheet& sheet, const std::string& precision);
GpuRoofline roofline_on_gpu(const ProblemDescription& problem, const vgpu::GpuSheet& sheet, const std::string& precision);

}  // namespace kw
