#include "search/profile_kernel.h"

#include <unistd.h>

#include "machine/machine_lock.h"
#include "measure/statistics.h"

namespace kw {
namespace {

// Median seconds of a call; nothing where the kernel fails, which a profile may pass over: its verdict is settled elsewhere.
Result<std::optional<double>> seconds_of_calls(Evaluator& evaluator, const ProblemSource& problem, const Candidate& candidate,
                                               const TimingSets& sets, int threads, bool warm) {
  KW_TRY(const MeasureOptions measure, evaluator.measure_options());
  SessionOptions session;
  session.mode = measure.mode;
  session.threads = threads;
  session.cores = measure.cores;
  const auto deadline = call_deadline(sets.sets.front(), measure.call_timeout);
  KW_TRY(auto subject,
         KernelSubject::make(*candidate.kernel(), problem.description, sets, session, deadline, evaluator.output_check(problem)));
  std::vector<int> order;
  for (std::size_t i = 0; i < std::max<std::size_t>(sets.sets.size(), 6); ++i)
    order.push_back(warm ? 0 : static_cast<int>(i % sets.sets.size()));
  KW_TRY(const Block block, subject->block(order, 2));
  if (!block.ok()) return std::optional<double>();
  return std::optional(median(*block.value));
}

}  // namespace

ProfileInputs profile_inputs(const Machine& machine, const ProblemDescription& problem, const TimingRecord& timing) {
  ProfileInputs inputs;
  inputs.zone = timing.zone;
  inputs.share_of_ceiling = timing.share_of_ceiling;
  inputs.seconds = timing.seconds;
  inputs.threads = timing.threads;
  inputs.region_seconds = machine.openmp_region_seconds;
  for (const TensorSpec& output : problem.outputs) inputs.output_bytes += static_cast<double>(output.span_bytes());
  inputs.cache_bytes = std::max(machine.l2_bytes, machine.l3_bytes);
  inputs.vector_bits = vector_bits_of(machine.isas);
  return inputs;
}

Result<ProfileRecord> profile_kernel(Evaluator& evaluator, const ProblemSource& problem, Candidate& candidate,
                                     const TimingSets& sets, const TimingRecord& timing) {
  CompileOptions options = evaluator.compile_options();
  options.lines = true;
  KW_TRY(const CompileOutcome with_lines, candidate.compile_variant(problem.description, options, "lines"));
  KW_TRY(const CompileOutcome compiled, candidate.compile(problem.description, evaluator.compile_options()));
  if (!with_lines.kernel || !compiled.kernel) return internal_error("a kernel that has passed does not compile for its profile");
  ProfileInputs inputs = profile_inputs(evaluator.machine(), problem.description, timing);
  // Of a kernel in OpenCL C the first launch is looked at.
  const CompiledKernel& read = *with_lines.kernel;
  KW_TRY(const Disassembly code, disassemble(read.opencl && !read.opencl->code.empty() ? read.opencl->code.front() : read.object));
  inputs.loops = innermost_loops(code);
  if (!inputs.loops.empty()) inputs.mca = simulate(inputs.loops.front(), code.isa);

  KW_TRY(const MachineLock lock, MachineLock::acquire());
  // Counters of this process are inherited by what it starts from now on.
  std::optional<Counters> counters;
  if (Counters::available()) {
    if (auto opened = Counters::open(::getpid()); opened && opened->start()) counters.emplace(std::move(*opened));
  }
  KW_TRY(const auto cold, seconds_of_calls(evaluator, problem, candidate, sets, timing.threads, false));
  if (counters && counters->stop()) {
    if (auto values = counters->read(); values && values->cycles > 0) inputs.counters = *values;
  }
  KW_TRY(const auto warm, seconds_of_calls(evaluator, problem, candidate, sets, timing.threads, true));
  KW_TRY(const auto single, seconds_of_calls(evaluator, problem, candidate, sets, 1, true));
  inputs.cold_seconds = cold.value_or(0);
  inputs.seconds = warm.value_or(inputs.seconds);
  if (timing.threads > 1) inputs.one_thread_seconds = single.value_or(0);
  return findings(inputs);
}

}  // namespace kw
