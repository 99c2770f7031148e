#include "search/final_source.h"

#include <sstream>

#include <fmt/format.h>

#include "record/standing.h"

namespace kw {

std::string with_knobs(const std::string& source, const KnobValues& knobs) {
  std::istringstream lines(source);
  std::string text, line, guarded;  // the macro of the last line, if that was an #ifndef
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string directive, macro, value;
    words >> directive >> macro >> value;
    if (directive == "#define" && macro == guarded && knobs.contains(macro))
      line = fmt::format("#define {} {}", macro, knobs.at(macro));
    if (macro == "=" && knobs.contains(directive)) line = fmt::format("{} = {}", directive, knobs.at(directive));  // Python
    guarded = directive == "#ifndef" ? macro : "";
    text += line + "\n";
  }
  return text;
}

std::string provenance(const RunRecord& run, const Machine& machine) {
  std::string text = fmt::format("// Written by Kernelwright, run {}, for the problem {} (sha256 {:.12}).\n", run.id,
                                 run.problem_name, run.problem_hash);
  if (run.confirmed) {
    text += run.confirmed->gpu.empty() ? fmt::format("// Measured on {} with {} thread{}:", machine.cpu_model,
                                                     run.confirmed->threads, run.confirmed->threads == 1 ? "" : "s")
                                       : fmt::format("// Measured on {}:", run.confirmed->gpu);
    for (const Comparison& comparison : run.confirmed->comparisons)
      text += fmt::format(" {:.2f}x ({:.2f} to {:.2f}) over {};", comparison.speedup, comparison.interval.low,
                          comparison.interval.high, comparison.baseline == "compile" ? "torch.compile" : comparison.baseline);
    text.back() = '.';
    if (const Standing standing = standing_of(run.confirmed); standing != Standing::faster)
      text += fmt::format(" {}{}.", standing == Standing::unclear ? "There is " : "", headline_of(standing));
    text += "\n";
  }
  if (!run.estimate && !run.confirmed)
    text += "// Not confirmed: it passed a short check on a few inputs, and its speed is not known.\n";
  if (run.estimate && !run.confirmed) {
    text += fmt::format("// Estimated for {}, not measured: {:.3g} us a call, limited by {}", run.estimate->gpu_name,
                        run.estimate->seconds * 1e6, run.estimate->limiting);
    if (run.reference_seconds > 0 && run.estimate->seconds > 0)
      text += fmt::format("; {:.2f}x over {} by the same estimate", run.reference_seconds / run.estimate->seconds, run.reference);
    text += ".\n";
  }
  return text + "//\n";
}

std::string handed_over(const RunRecord& run, const Individual& individual, const Machine& machine) {
  std::string told = provenance(run, machine);
  if (kernel_extension(individual.kernel.dsl) == ".py")
    for (std::size_t at = 0; at < told.size(); at = told.find('\n', at) + 1) told.replace(at, 2, "#");
  return told + with_knobs(individual.kernel.source, individual.proposal.knobs);
}

}  // namespace kw
