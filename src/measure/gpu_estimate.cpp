#include "measure/gpu_estimate.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/demangle.h"
#include "dsl/session_tensors.h"
#include "vgpu/estimate.h"
#include "vgpu/report_json.h"

namespace kw {
namespace {

constexpr double kCallSeconds = 600;
// A launch that takes longer is counted on a sample of its blocks.
constexpr double kSampleSeconds = 8;
// Where what such a sample wrote tells nothing, all blocks are counted, without checks; not by longer than this of kernels that the
// playbook wrote, which do at full shapes what they were seen to do at reduced ones.
constexpr double kWholeSeconds = 60, kCostOfChecks = 3;
// As of timings: below this part of what the bytes take.
constexpr double kBelieved = 0.6;

std::uint64_t volume(const vgpu::Dim3& dim) { return std::uint64_t{dim.x} * dim.y * dim.z; }
std::vector<std::uint32_t> list_of(const vgpu::Dim3& dim) { return {dim.x, dim.y, dim.z}; }

int spills_of(const Json& facts, const std::string& kernel) {
  const auto found = facts.find(kernel);
  return found == facts.end() ? 0 : found->value("spill_bytes", 0);
}

LaunchEstimate launch_estimate(const vgpu::LaunchRecord& launch, const Json& facts, const vgpu::GpuSheet& sheet) {
  vgpu::LaunchShape shape;
  shape.blocks = volume(launch.grid);
  shape.threads_per_block = static_cast<int>(volume(launch.block));
  shape.registers = launch.registers;
  shape.shared = launch.dynamic_shared + launch.static_shared;
  shape.tensor_kind = launch.tensor_kind;
  const vgpu::LineCounters& counters = launch.report.counters;
  const vgpu::Estimate estimate = vgpu::estimate_launch(sheet, counters, shape);
  LaunchEstimate one;
  one.kernel = demangled(launch.kernel);
  one.grid = list_of(launch.grid);
  one.block = list_of(launch.block);
  one.shared_bytes = static_cast<std::int64_t>(shape.shared);
  one.registers = launch.registers;
  one.spill_bytes = spills_of(facts, launch.kernel);
  one.seconds = estimate.seconds;
  one.limiting = estimate.limiting;
  one.share_of_speed_of_light = estimate.share_of_speed_of_light;
  one.occupancy = estimate.occupancy.share;
  one.occupancy_limiter = estimate.occupancy.limiter;
  one.waves = estimate.waves;
  for (const auto& each : estimate.resources) one.resources.push_back({each.resource, each.seconds, each.share});
  one.notes = estimate.notes;
  if (launch.report.sampled())
    one.notes.push_back(fmt::format("counted on {} of its {} blocks", launch.report.blocks_run, launch.report.blocks));
  one.counters = counters;
  return one;
}

// Of a call with all of its blocks and without checks, by one with checks and on a sample.
double whole_seconds(const vgpu::ProgramReport& report) {
  double seconds = 0;
  for (const vgpu::LaunchRecord& launch : report.launches)
    seconds += launch.report.seconds * static_cast<double>(launch.report.blocks) /
               static_cast<double>(std::max<std::uint64_t>(launch.report.blocks_run, 1));
  return seconds / kCostOfChecks;
}

std::string peak_name(const vgpu::GpuSheet& sheet, const std::string& precision) {
  const std::string tensor_cores = "tensor_" + precision;
  return precision != "float32" && sheet.peak_tflops.contains(tensor_cores) ? tensor_cores : "fp32";
}

std::string zone_of_times(double compute, double memory) {
  constexpr double kLaunchSeconds = 5e-6;  // shorter work is mostly the launch
  if (std::max(compute, memory) < kLaunchSeconds) return "latency";
  if (compute > 2 * memory) return "compute";
  return memory > 2 * compute ? "memory" : "balanced";
}

}  // namespace

GpuCeilings ceilings_of(const vgpu::GpuSheet& sheet, const std::string& precision) {
  const std::string peak = peak_name(sheet, precision);
  return {sheet.name, sheet.memory_gb_per_s, sheet.l2_bytes_per_clock.value_or(0) * sheet.clock_hz() / 1e9, peak,
          sheet.peak_tflops.at(peak) * 1e3};
}

GpuRoofline roofline_on_gpu(const ProblemDescription& problem, const vgpu::GpuSheet& sheet, const std::string& precision) {
  const GpuCeilings ceilings = ceilings_of(sheet, precision);
  const double compute = problem.flops.value_or(0) / (ceilings.peak_gflops * 1e9);
  const double memory = problem.bytes / (ceilings.memory_gbytes_per_second * 1e9);
  return {std::max(compute, memory), zone_of_times(compute, memory)};
}

Result<EstimateRecord> estimate_of_report(const std::string& report_lines, const std::string& facts,
                                          const ProblemDescription& problem, const vgpu::GpuSheet& sheet,
                                          const std::string& precision) {
  KW_TRY(const vgpu::ProgramReport report, vgpu::parse_program_report(report_lines));
  KW_TRY(const Json known, parse_json(facts.empty() ? "{}" : facts, "the facts of ptxas"));
  EstimateRecord record;
  record.gpu = sheet.id;
  record.gpu_name = sheet.name;
  std::map<std::string, double> limits;
  double weighted = 0;
  for (const vgpu::LaunchRecord& launch : report.launches) {
    LaunchEstimate one = launch_estimate(launch, known, sheet);
    record.seconds += one.seconds;
    limits[one.limiting] += one.seconds;
    weighted += one.share_of_speed_of_light * one.seconds;
    const auto same = std::find_if(record.launches.begin(), record.launches.end(), [&](const LaunchEstimate& each) {
      return each.kernel == one.kernel && each.grid == one.grid && each.block == one.block && each.shared_bytes == one.shared_bytes;
    });
    if (same == record.launches.end()) {
      record.launches.push_back(std::move(one));
    } else {
      ++same->launches;
      same->seconds += one.seconds;
    }
  }
  std::stable_sort(record.launches.begin(), record.launches.end(),
                   [](const LaunchEstimate& a, const LaunchEstimate& b) { return a.seconds > b.seconds; });
  if (report.moves > 0) {
    const double moving = vgpu::estimate_moves(sheet, report.moves, report.moved_bytes);
    record.seconds += moving;
    limits["memory"] += moving;
    weighted += moving;
    record.notes.push_back(fmt::format("{} copies and fills within the device: {:.3g} s", report.moves, moving));
  }
  for (const auto& [resource, seconds] : limits)
    if (record.limiting.empty() || seconds > limits[record.limiting]) record.limiting = resource;
  if (record.seconds > 0) record.share_of_speed_of_light = weighted / record.seconds;
  const GpuRoofline roofline = roofline_on_gpu(problem, sheet, precision);
  record.floor_seconds = roofline.floor_seconds;
  record.share_of_ceiling = record.seconds > 0 ? record.floor_seconds / record.seconds : 0;
  record.zone = roofline.zone;
  return record;
}

std::optional<Diagnosis> too_fast_to_be_true(const EstimateRecord& estimate, const ProblemDescription& problem,
                                             const vgpu::GpuSheet& sheet) {
  const double least = problem.essential_bytes / (sheet.memory_gb_per_s * 1e9);
  if (estimate.seconds >= kBelieved * least) return std::nullopt;
  return Diagnosis{"measure",
                   "faster than the GPU can move the bytes that the output depends on",
                   "",
                   {fmt::format("estimated at {:.3g} s a call, but {:.3g} MB at the {:.0f} GB/s of {} take {:.3g} s",
                                estimate.seconds, problem.essential_bytes * 1e-6, sheet.memory_gb_per_s, sheet.name, least)},
                   "the call that was counted did not do all of its work",
                   ""};
}

namespace {

// One call whose instructions are counted.
struct Counted {
  std::string lines;
  bool compared = true;
};

Result<Answered<Counted>> count_a_call(const Candidate& candidate, const ProblemDescription& problem, const TensorSet& set,
                                       const EstimateOptions& options, bool whole) {
  const CompiledKernel& kernel = *candidate.kernel();
  const double seconds = options.call_timeout.value_or(kCallSeconds);
  const std::chrono::milliseconds deadline(static_cast<long long>((seconds + 5) * 1000));
  SessionOptions session_options;
  session_options.mode = options.mode;
  session_options.threads = options.threads;
  session_options.cores = options.cores;
  session_options.gpu = SessionGpu{*kernel.gpu, !whole, true, seconds, whole ? 0 : kSampleSeconds, options.seed};
  KW_TRY(Session session, Session::create(problem, kernel, session_options));
  KW_CHECK(load_inputs(session, problem, set, 0));
  KW_CHECK(load_weights(session, problem, set));
  KW_TRY(const auto launched, session.launch(deadline));
  if (!launched.ok()) return Answered<Counted>{{}, launched.failure};
  KW_TRY(const auto prepared, session.prepare(deadline));
  if (!prepared.ok()) return Answered<Counted>{{}, prepared.failure};
  const int zero[] = {0};
  KW_TRY(const auto called, session.call(zero, zero, true, deadline));
  if (!called.ok()) return Answered<Counted>{{}, called.failure};
  const GpuReport& report = *called.value->gpu;
  KW_TRY(const CountedOutputs outputs, options.check(session, set, report));
  if (outputs.failure) return Answered<Counted>{{}, *outputs.failure};
  return Answered<Counted>{Counted{report.lines, outputs.compared}, {}};
}

}  // namespace

Result<Estimation> estimate_on_gpu(const Candidate& candidate, const ProblemDescription& problem, const TensorSet& set,
                                   const vgpu::GpuSheet& sheet, const EstimateOptions& options) {
  if (options.progress) options.progress("counting on a virtual " + sheet.name);
  // With checks, as in verification: a kernel cannot tell that this is the call which is counted.
  KW_TRY(Answered<Counted> counted, count_a_call(candidate, problem, set, options, false));
  if (counted.ok() && !counted.value->compared) {
    KW_TRY(const vgpu::ProgramReport report, vgpu::parse_program_report(counted.value->lines));
    if (whole_seconds(report) <= kWholeSeconds || !candidate.is_rewritten()) {
      KW_TRY(counted, count_a_call(candidate, problem, set, options, true));
    }
  }
  if (!counted.ok()) return Estimation{std::nullopt, counted.failure.verdict, counted.failure.diagnosis};
  Estimation estimation;
  KW_TRY(estimation.estimate,
         estimate_of_report(counted.value->lines, candidate.kernel()->gpu->facts, problem, sheet, options.precision));
  if (auto doubt = too_fast_to_be_true(*estimation.estimate, problem, sheet))
    return Estimation{std::nullopt, Verdict::mistrusted, std::move(*doubt)};
  return estimation;
}

}  // namespace kw
