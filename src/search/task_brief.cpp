#include "search/task_brief.h"

#include <fmt/format.h>

#include "dsl/dsl.h"
#include "machine/roofline.h"
#include "measure/gpu_estimate.h"
#include "problem/workload.h"

namespace kw {
namespace {

std::string bytes_text(double bytes) {
  if (bytes >= 1 << 20) return fmt::format("{:.0f} MiB", bytes / (1 << 20));
  return fmt::format("{:.0f} KiB", bytes / (1 << 10));
}

}  // namespace

Result<TaskBrief> task_brief(const ProblemSource& problem, const Machine& machine, int threads, const std::string& precision,
                             const Features& features, const std::string& dsl) {
  TaskBrief brief;
  brief.problem = problem.description;
  brief.dsl = dsl;
  KW_TRY(brief.problem_source, read_file(problem.description.file));
  KW_TRY(const Dsl* language, dsl_named(dsl));
  brief.declaration = language->declaration(problem.description);
  const Workload workload{problem.description.flops, problem.description.bytes, problem.description.essential_bytes};
  const Roofline roofline = roofline_of(machine, workload, threads);
  brief.zone = name_of(roofline.zone);
  brief.workload_class = workload_class(problem.description).text();
  brief.zone_numbers = fmt::format(
      "{:.2g} FLOPs per byte where the ridge is at {:.2g}; no call can be faster than {:.3g} us (memory {:.3g} us, arithmetic "
      "{:.3g} us).",
      roofline.intensity, roofline.ridge, roofline.floor_seconds * 1e6, roofline.memory_seconds * 1e6,
      roofline.compute_seconds * 1e6);
  brief.ceilings = fmt::format(
      "{} threads, {}; caches per core {} and {}, shared {}; {:.0f} GFLOP/s, {:.0f} GB/s for this problem's {}. A parallel region "
      "costs "
      "{:.1f} us.",
      threads, machine.widest_isa, bytes_text(machine.l1d_bytes), bytes_text(machine.l2_bytes), bytes_text(machine.l3_bytes),
      compute_ceiling(machine, threads), bandwidth_ceiling(machine, problem.description.bytes, threads),
      bytes_text(problem.description.bytes), machine.openmp_region_seconds * 1e6);
  brief.precision = precision;
  brief.features = features;
  return brief;
}

Result<TaskBrief> gpu_task_brief(const ProblemSource& problem, const vgpu::GpuSheet& sheet, const std::string& dsl,
                                 const std::string& precision, const Features& features) {
  TaskBrief brief;
  brief.problem = problem.description;
  KW_TRY(brief.problem_source, read_file(problem.description.file));
  KW_TRY(const Dsl* language, dsl_named(dsl));
  brief.declaration = language->declaration(problem.description);
  const GpuRoofline roofline = roofline_on_gpu(problem.description, sheet, precision);
  brief.zone = roofline.zone;
  brief.workload_class = workload_class(problem.description).text();
  brief.zone_numbers = fmt::format("by its data sheet no call can be faster than {:.3g} us.", roofline.floor_seconds * 1e6);
  brief.ceilings = fmt::format(
      "{} (compute capability {}): {} SMs, each with {} threads, {} registers and {} of shared memory ({} for a block that asks); "
      "L2 {}; "
      "{:.0f} GB/s; {:.3g} TFLOP/s in float32.",
      sheet.name, sheet.compute_capability(), sheet.sm_count, sheet.per_sm.threads, sheet.per_sm.registers,
      bytes_text(sheet.per_sm.shared_bytes), bytes_text(sheet.per_sm.shared_bytes_per_block_optin),
      bytes_text(static_cast<double>(sheet.l2_bytes)), sheet.memory_gb_per_s,
      sheet.peak_tflops.contains("fp32") ? sheet.peak_tflops.at("fp32") : 0);
  brief.precision = precision;
  brief.dsl = dsl;
  brief.features = features;
  return brief;
}

}  // namespace kw
