#include "search/kernel_outputs.h"

#include <cmath>

#include <fmt/format.h>

#include "dsl/session_tensors.h"
#include "verify/compare.h"
#include "verify/elements.h"

namespace kw {
namespace {

constexpr std::chrono::milliseconds kCall{300000};

}  // namespace

Result<Answered<KernelOutputs>> outputs_of(const Candidate& candidate, const ProblemDescription& problem, const TensorSet& set,
                                           const Evaluator& evaluator) {
  const CompiledKernel& kernel = *candidate.kernel();
  SessionOptions options;
  options.mode = evaluator.mode();
  options.threads = evaluator.threads();
  if (kernel.gpu) options.gpu = SessionGpu{*kernel.gpu, false, false, 0};
  KW_TRY(Session session, Session::create(problem, kernel, options));
  KW_CHECK(load_inputs(session, problem, set, 0));
  KW_CHECK(load_weights(session, problem, set));
  KW_TRY(auto launched, session.launch(kCall));
  if (!launched.ok()) return Answered<KernelOutputs>{{}, launched.failure};
  KW_TRY(auto prepared, session.prepare(kCall));
  if (!prepared.ok()) return Answered<KernelOutputs>{{}, prepared.failure};
  const int zero[] = {0};
  KW_TRY(auto called, session.call(zero, zero, true, kCall));
  if (!called.ok()) return Answered<KernelOutputs>{{}, called.failure};
  KernelOutputs outputs;
  for (std::size_t i = 0; i < problem.outputs.size(); ++i) {
    bool canary_broken = false;
    KW_TRY(auto bytes, session.output(problem.inputs.size() + problem.parameters.size() + i, 0, canary_broken));
    outputs.push_back(std::move(bytes));
  }
  return Answered<KernelOutputs>{std::move(outputs), {}};
}

Result<OutputDistance> distance_between(const KernelOutputs& first, const KernelOutputs& second, const ProblemDescription& problem,
                                        const TensorSet& set, const std::string& precision) {
  OutputDistance distance;
  for (std::size_t i = 0; i < problem.outputs.size(); ++i) {
    const TensorSpec& spec = problem.outputs[i];
    const std::int64_t count = spec.numel();
    distance.bitwise &= first[i] == second[i];
    std::vector<double> from(static_cast<std::size_t>(count)), to(from.size());
    elements_as_doubles(first[i].data(), spec.dtype, 0, count, from.data());
    elements_as_doubles(second[i].data(), spec.dtype, 0, count, to.data());
    for (std::size_t k = 0; k < from.size(); ++k) {
      if (!std::isfinite(from[k]) || !std::isfinite(to[k])) continue;
      distance.largest_difference = std::max(distance.largest_difference, std::fabs(from[k] - to[k]));
      distance.largest_value = std::max(distance.largest_value, std::fabs(from[k]));
    }
    KW_TRY(const NamedTensor eager, set.eager.at(spec.name));
    const bool floating = is_floating(spec.dtype);
    KW_TRY(const CompareInput input,
           compare_input(spec, second[i].data(), floating ? static_cast<const void*>(from.data()) : first[i].data(),
                         floating ? DType::f64 : spec.dtype, eager.bytes.data(), eager.dtype, precision));
    distance.within_tolerance &= compare_output(input).right;
  }
  return distance;
}

}  // namespace kw
