#include <fmt/format.h>

#include "agent/usage.h"
#include "cli/commands.h"
#include "cli/interruption.h"
#include "cli/model_choice.h"
#include "dsl/dsl.h"
#include "search/one_kernel.h"

namespace kw {
namespace {

std::string file_for(const AgentOptions& options, const OneKernelOutcome& outcome, const std::string& model,
                     std::string_view extension) {
  if (!options.out.empty()) return options.out;
  std::string name;
  for (const char c : model)
    name += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ? c : '_';
  return fmt::format("{}-{}{}", outcome.problem.name, name, extension);
}

std::string attempt_text(const Individual& attempt) {
  std::string text = fmt::format("  {:>3}  {:<10} {:<15} {}\n", attempt.index, attempt.proposal.task, name_of(attempt.verdict),
                                 attempt.diagnosis.empty() ? "" : attempt.diagnosis);
  for (const std::string& fault : attempt.faults) text += fmt::format("       answer: {}\n", fault);
  for (const std::string& remark : attempt.remarks) text += fmt::format("       {}\n", remark);
  return text;
}

Result<int> one_step(const AgentOptions& options, const Dsl& dsl, Output& output, std::optional<std::string> source) {
  if (!dsl.on_gpu() && !options.machine.empty())
    return bad_input(
        fmt::format("--machine {} goes with --dsl cuda-c or cute", options.machine),
        "choose a DSL for it, such as --dsl cuda-c; or leave --machine out: kernels in C++ and OpenCL are for this machine");
  KW_CHECK(check_out(options.out));
  GpuPlace place;
  if (dsl.on_gpu()) {
    KW_TRY(place, gpu_place_among(vgpu::present_gpus(), options.machine, dsl.name));  // an unknown GPU is told at once
  }
  const Interruption interruption;
  KW_TRY(const std::unique_ptr<Model> model, opened_model(options.model, output, interruption.wanted()));
  OneKernelRequest request;
  request.problem_file = options.problem;
  request.source = std::move(source);
  request.dsl = dsl.name;
  request.evaluator.gpu = place.sheet;  // nothing is timed
  request.strategies = options.strategies;
  request.attempts = options.attempts;
  request.seed = options.seed;
  request.evaluator.precision = options.precision;
  request.evaluator.threads = options.threads;
  request.evaluator.compile_timeout = options.compile_timeout;
  request.evaluator.unsafe_no_sandbox = options.unsafe_no_sandbox;
  request.model = model.get();
  KW_TRY(const OneKernelOutcome outcome,
         one_kernel(
             request, [&](const std::string& text) { output.progress(text); }, interruption.wanted()));
  const ModelUse use = model_use(model->name(), outcome.exchanges, outcome.attempts);
  std::string file;
  if (outcome.passed >= 0) {
    file = file_for(options, outcome, model->name(), dsl.extension);
    KW_CHECK(write_file_atomically(file, outcome.attempts[static_cast<std::size_t>(outcome.passed)].kernel.source));
  }
  std::string text =
      fmt::format("{}: {} ({})\n", outcome.problem.name,
                  outcome.passed >= 0 ? output.paint().good("passed") : output.paint().bad("no kernel passed"), outcome.ending);
  for (const Individual& attempt : outcome.attempts) text += attempt_text(attempt);
  text += text_of(use);
  if (!file.empty()) text += fmt::format("  {:<9} {}\n", "kernel", file);
  output.result(text, {{"problem", outcome.problem.name},
                       {"passed", outcome.passed >= 0},
                       {"ending", outcome.ending},
                       {"kernel_file", file},
                       {"attempts", outcome.attempts},
                       {"model", json_of(use)}});
  return outcome.passed >= 0 ? kPassed : kNotPassed;
}

}  // namespace

Result<int> run_generate(const AgentOptions& options, Output& output) {
  KW_TRY(const Dsl* dsl, dsl_named(options.dsl.empty() ? "cpp" : options.dsl));
  return one_step(options, *dsl, output, std::nullopt);
}

Result<int> run_repair(const AgentOptions& options, Output& output) {
  KW_TRY(std::string source, read_file(options.kernel));
  if (source.find_first_not_of(" \t\r\n") == std::string::npos)
    return bad_input(fmt::format("{} is empty", options.kernel), "kernelwright generate writes a kernel from nothing");
  KW_TRY(const Dsl* dsl, dsl_of(options.kernel, source, options.dsl));
  return one_step(options, *dsl, output, std::move(source));
}

}  // namespace kw
