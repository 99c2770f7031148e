#include "base/shell.h"
#include "cli/commands.h"

#include <fmt/format.h>

#include "dsl/cpp_text.h"
#include "report/numbers.h"
#include "search/evaluator.h"

namespace kw {
namespace {

Result<std::map<std::string, std::string>> knobs_of(const std::vector<std::string>& words) {
  std::map<std::string, std::string> knobs;
  for (const auto& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      return bad_input(fmt::format("--knob {} has no value", word), "write --knob NAME=VALUE");
    knobs[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return knobs;
}

// The command that repeats a verdict, but for the seed.
std::string command_line(const std::string& command, const JudgeOptions& options) {
  std::string text = fmt::format("kernelwright {} {} {}", command, shell_word(options.problem), shell_word(options.kernel));
  for (const auto& knob : options.knobs) text += " --knob " + shell_word(knob);
  if (!options.dsl.empty()) text += " --dsl " + options.dsl;
  if (!options.machine.empty()) text += " --machine " + shell_word(options.machine);
  if (options.precision != "float32") text += " --precision " + options.precision;
  if (options.threads > 0) text += fmt::format(" --threads {}", options.threads);
  if (options.timeout) text += fmt::format(" --timeout {}", *options.timeout);
  if (options.compile_timeout != JudgeOptions().compile_timeout)
    text += fmt::format(" --compile-timeout {}", options.compile_timeout);
  if (options.allow_torch) text += " --allow-torch";
  if (options.unsafe_no_sandbox) text += " --unsafe-no-sandbox";
  return text;
}

Result<std::unique_ptr<Evaluator>> evaluator_for(const Candidate& candidate, const JudgeOptions& options, Output& output) {
  EvaluatorOptions evaluator;
  if (candidate.on_gpu()) {
    KW_TRY(const GpuPlace place, gpu_place(options.machine, candidate.dsl().name));
    evaluator.go_to(place);
  }
  evaluator.threads = options.threads;
  evaluator.precision = options.precision;
  evaluator.unsafe_no_sandbox = options.unsafe_no_sandbox;
  evaluator.again = options.again;
  evaluator.fresh = options.fresh;
  evaluator.seed = options.seed;
  evaluator.call_timeout = options.timeout;
  evaluator.compile_timeout = options.compile_timeout;
  evaluator.allow_torch = options.allow_torch;
  evaluator.seconds_per_baseline = options.time;
  evaluator.eager = evaluator.compile = false;
  for (const auto& baseline : options.baselines) (baseline == "eager" ? evaluator.eager : evaluator.compile) = true;
  evaluator.progress = [&output](std::string_view text) { output.progress(text); };
  return Evaluator::open(std::move(evaluator));
}

// Looked at before anything slow starts.
Result<Candidate> candidate_of(const std::string& kernel, const JudgeOptions& options) {
  KW_TRY(const auto knobs, knobs_of(options.knobs));
  KW_TRY(Candidate candidate, Candidate::read(kernel, knobs, options.dsl));
  for (const auto& [name, value] : knobs)  // of two kernels that are timed against each other, one may have knobs of its own
    if (options.against.empty() && is_identifier(name) && !mentions_identifier(candidate.source().text, name))
      return bad_input(fmt::format("{} has no knob {}", kernel, name),
                       "write its name as it stands in the kernel; a knob is a macro with a default (#ifndef KW_TILE)");
  if (!candidate.on_gpu() && !options.machine.empty())
    return bad_input(
        fmt::format("--machine {} goes with kernels for a GPU; {} is {}", options.machine, kernel, candidate.dsl().name),
        "leave --machine out: such kernels are for this machine");
  if (options.allow_torch && candidate.dsl().name != "kernelbench")
    return bad_input(
        fmt::format("--allow-torch goes with a Python file that defines ModelNew; {} is {}", kernel, candidate.dsl().name),
        "leave --allow-torch out");
  if (candidate.on_gpu()) {
    KW_TRY(const std::string version, candidate.dsl().compiler_version());
  }
  return candidate;
}

Result<int> print(const Evaluated& evaluated, const ProblemDescription& problem, Output& output) {
  const auto& evaluation = evaluated.evaluation;
  Json json = evaluation;
  json["from_archive"] = evaluated.from_archive;
  json["problem"] = problem.name;
  std::string text = fmt::format("{} on {}: ", evaluation.kernel_file, problem.name);
  text += text_of(evaluation.verdict, output.paint());
  if (evaluation.timing) text += text_of(*evaluation.timing, output.paint());
  if (evaluation.estimate) text += text_of(*evaluation.estimate, output.paint());
  if (!problem.sensitivity.telling)
    text += fmt::format("  {:<9} verdicts on this problem mean little: {}\n", "note", problem.sensitivity.note);
  if (evaluated.from_archive)
    text += output.paint().faint(fmt::format("  {:<9} from {}; --again evaluates anew\n", "archived", evaluation.created_at));
  output.result(text, json);
  return evaluation.verdict.verdict == Verdict::passed ? kPassed : kNotPassed;
}

}  // namespace

Result<int> run_verify(const JudgeOptions& options, Output& output) {
  KW_TRY(Candidate candidate, candidate_of(options.kernel, options));
  KW_TRY(auto evaluator, evaluator_for(candidate, options, output));
  KW_TRY(const ProblemSource problem, evaluator->problem(options.problem));
  KW_TRY(const Evaluated evaluated, evaluator->verify(problem, candidate, command_line("verify", options)));
  return print(evaluated, problem.description, output);
}

Result<int> run_measure(const JudgeOptions& options, Output& output) {
  KW_TRY(Candidate candidate, candidate_of(options.kernel, options));
  KW_TRY(auto evaluator, evaluator_for(candidate, options, output));
  if (options.against.empty()) {
    KW_TRY(const ProblemSource problem, evaluator->problem(options.problem));
    KW_TRY(const Evaluated evaluated, evaluator->measure(problem, candidate, command_line("measure", options)));
    return print(evaluated, problem.description, output);
  }
  KW_TRY(Candidate baseline, candidate_of(options.against, options));
  const bool both_timed = candidate.on_gpu() == baseline.on_gpu() && is_timed_on_gpu(baseline.dsl().name);
  if ((candidate.on_gpu() || baseline.on_gpu()) && !(evaluator->options().device && both_timed))
    return bad_input("--against times two kernels on this machine; kernels for a GPU that is not here are estimated one by one",
                     "measure each without --against");
  KW_TRY(const ProblemSource problem, evaluator->problem(options.problem));
  for (Candidate* each : {&baseline, &candidate}) {
    JudgeOptions of_this = options;
    of_this.kernel = each == &baseline ? options.against : options.kernel;
    KW_TRY(const Evaluated judged, evaluator->verify(problem, *each, command_line("verify", of_this)));
    if (judged.evaluation.verdict.verdict != Verdict::passed) return print(judged, problem.description, output);
  }
  KW_TRY(const Measurement measured, evaluator->measure_against(problem, baseline, candidate));
  VerdictRecord verdict;
  verdict.verdict = measured.verdict;
  verdict.diagnosis = measured.diagnosis;
  verdict.sandbox = sandbox::name_of(evaluator->mode());
  verdict.precision = options.precision;
  std::string text =
      fmt::format("{} against {} on {}: ", candidate.source().file, baseline.source().file, problem.description.name);
  text += text_of(verdict, output.paint());
  if (measured.timing) text += text_of(*measured.timing, output.paint());
  output.result(text, {{"problem", problem.description.name},
                       {"kernel", candidate.source().file},
                       {"against", baseline.source().file},
                       {"verdict", verdict},
                       {"timing", measured.timing ? Json(*measured.timing) : Json()}});
  return measured.timing ? kPassed : kNotPassed;
}

}  // namespace kw
