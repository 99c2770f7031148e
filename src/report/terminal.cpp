#include "report/terminal.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/demangle.h"
#include "report/numbers.h"

namespace kw {
namespace {

std::string painted(bool on, const char* code, std::string_view text) {
  return on ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

std::string shape_of(const TensorSpec& spec) {
  if (spec.kind == TensorKind::scalar) return fmt::format("{} = {}", torch_name(spec.dtype), spec.value);
  std::string text = fmt::format("{}[{}]", torch_name(spec.dtype), fmt::join(spec.shape, ", "));
  if (!spec.is_contiguous()) text += fmt::format(" strides ({})", fmt::join(spec.strides, ", "));
  return text;
}

std::string tensors(const char* title, const std::vector<TensorSpec>& specs) {
  if (specs.empty()) return "";
  constexpr std::size_t kMost = 12;
  std::string text;
  std::size_t width = 0;
  for (const auto& spec : specs) width = std::max(width, spec.name.size());
  for (std::size_t i = 0; i < std::min(specs.size(), kMost); ++i)
    text += fmt::format("{:<12}{:<{}}  {}\n", i == 0 ? title : "", specs[i].name, width, shape_of(specs[i]));
  if (specs.size() > kMost) text += fmt::format("{:<12}... and {} more\n", "", specs.size() - kMost);
  return text;
}

std::string graph_text(const ProblemDescription& problem) {
  if (!problem.graph.is_object()) return fmt::format("{:<12}none: {}\n", "graph", problem.graph_error);
  std::vector<std::string> calls;
  for (const auto& node : problem.graph.value("nodes", Json::array()))
    if (node.is_object() && node.value("kind", "") == "call") calls.push_back(node.value("op", "?"));
  constexpr std::size_t kMost = 16;
  std::string text;
  for (std::size_t i = 0; i < std::min(calls.size(), kMost); ++i) {
    const std::string name = calls[i].rfind("aten.", 0) == 0 ? calls[i].substr(5) : calls[i];
    text += (i == 0 ? "" : " -> ") + name.substr(0, name.find('.'));
  }
  if (calls.size() > kMost) text += fmt::format(" ... ({} operations)", calls.size());
  return fmt::format("{:<12}{}\n", "graph", text);
}

std::string share_of_tolerance(double times) {
  if (times <= 10) return fmt::format("{:.0f}%", times * 100);
  return times < 1e6 ? fmt::format("{:.0f} times", times) : "far beyond";
}

}  // namespace

std::string Paint::good(std::string_view text) const { return painted(on, "32;1", text); }
std::string Paint::bad(std::string_view text) const { return painted(on, "31;1", text); }
std::string Paint::faint(std::string_view text) const { return painted(on, "2", text); }
std::string Paint::strong(std::string_view text) const { return painted(on, "1", text); }

std::string text_of(const ProblemDescription& problem, const WorkloadClass& workload, const Machine& machine,
                    const Roofline& roofline, int threads, const std::string& declaration, const Paint& paint) {
  std::string text = fmt::format("{}\n", paint.strong(problem.name));
  text += tensors("inputs", problem.inputs);
  text += tensors("parameters", problem.parameters);
  text += tensors("outputs", problem.outputs);
  text += graph_text(problem);
  text += fmt::format("{:<12}{}\n", "class", workload.text());
  text += fmt::format("{:<12}{}, {} compulsory ({} essential)", "work",
                      problem.flops ? human_count(*problem.flops) + "FLOP" : "FLOPs unknown", human_bytes(problem.bytes),
                      human_bytes(problem.essential_bytes));
  if (problem.flops) text += fmt::format(", {:.3g} FLOP/byte", roofline.intensity);
  text += fmt::format("\n{:<12}{} on {} with {} thread{}: no call below {} (ridge at {:.3g} FLOP/byte)\n", "zone",
                      paint.strong(name_of(roofline.zone)), machine.cpu_model, threads, threads == 1 ? "" : "s",
                      human_seconds(roofline.floor_seconds), roofline.ridge);
  const auto& s = problem.sensitivity;
  text += fmt::format("{:<12}{}\n", "sensitivity",
                      s.telling ? fmt::format("the output depends on the input: another input moves it by {} tolerances",
                                              human_count(s.other_input))
                                : paint.bad("verdicts on this problem mean little: ") + s.note);
  for (const auto& note : problem.notes) text += fmt::format("{:<12}{}\n", "note", note);
  text += fmt::format("{:<12}{}\n", "kernel", declaration);
  return text;
}

std::string text_of(const VerdictRecord& verdict, const Paint& paint) {
  const bool passed = verdict.verdict == Verdict::passed;
  std::string text = passed ? paint.good("passed") : paint.bad(name_of(verdict.verdict));
  if (!verdict.checks.empty()) {
    const auto right = std::count_if(verdict.checks.begin(), verdict.checks.end(), [](const auto& check) { return check.passed; });
    text += fmt::format("  {} of {} checks", right, verdict.checks.size());
  }
  text += fmt::format(", precision {}, sandbox {}\n", verdict.precision,
                      verdict.sandbox == "none" ? paint.bad("none (unsafe)") : verdict.sandbox);
  if (!passed) {
    const auto& d = verdict.diagnosis;
    text += fmt::format("  {:<9} {}\n", "stage", d.stage);
    text += fmt::format("  {:<9} {}\n", "what", d.summary);
    if (!d.place.empty()) text += fmt::format("  {:<9} {}\n", "where", d.place);
    for (const auto& line : d.evidence) text += fmt::format("  {:<9} {}\n", "evidence", line);
    if (!d.hint.empty()) text += fmt::format("  {:<9} {}\n", "hint", d.hint);
  }
  // The error of each output where it was worst, beside eager's.
  if (!verdict.checks.empty()) {
    text += fmt::format("  {:<14}{:<12}{:>12}{:>14}{:>14}\n", "output", "inputs", "error", "eager's own", "of tolerance");
    for (std::size_t i = 0; i < verdict.checks.front().outputs.size(); ++i) {
      const CheckResult* worst = &verdict.checks.front();
      for (const auto& check : verdict.checks)
        if (check.outputs[i].worst_of_tolerance > worst->outputs[i].worst_of_tolerance || !check.passed) worst = &check;
      const auto& o = worst->outputs[i];
      text += fmt::format("  {:<14}{:<12}{:>12.2e}{:>14.2e}{:>14}\n", o.output, worst->distribution, o.max_error, o.max_error_eager,
                          share_of_tolerance(o.worst_of_tolerance));
    }
  }
  for (const auto& note : verdict.notes) text += fmt::format("  {:<9} {}\n", "note", note);
  if (!verdict.repeat.empty()) text += paint.faint(fmt::format("  {:<9} {}\n", "repeat", verdict.repeat));
  return text;
}

namespace {

constexpr double kAboveCeiling = 1.1;  // more than noise: the kernel does less than the graph says

// Where the numbers alone would puzzle: a kernel above the ceiling, and eager closer to it than the kernel.
std::string ceiling_notes(const TimingRecord& timing, const Paint& paint) {
  std::string text;
  const auto note = [&](const std::string& words) { text += paint.faint(fmt::format("  {:<10}{}\n", "note", words)); };
  if (timing.share_of_ceiling > kAboveCeiling)
    note("above the ceiling of the operations as they are written: the kernel gets by with fewer");
  for (const auto& c : timing.comparisons)
    if (c.baseline == "eager" && c.interval.high < 1 && c.speedup > 0)
      note(fmt::format("eager is faster: it reaches {:.0f}% of the ceiling", timing.share_of_ceiling / c.speedup * 100));
  return text;
}

}  // namespace

std::string text_of(const TimingRecord& timing, const Paint& paint) {
  std::string text;
  for (const auto& c : timing.comparisons) {
    const std::string speedup = fmt::format("{:.2f}x", c.speedup);
    const bool loses = c.interval.high < 1;
    text += fmt::format("  {:<10}{:>9}  ({:.2f} to {:.2f}, 95%)   {} against {}, {} pairs of blocks\n", "vs " + c.baseline,
                        c.is_win() ? paint.good(speedup)
                        : loses    ? paint.bad(speedup)
                                   : speedup,
                        c.interval.low, c.interval.high, human_seconds(c.candidate_seconds), human_seconds(c.baseline_seconds),
                        c.pairs);
  }
  text += fmt::format("  {:<10}{} a call, {:.0f}% of the roofline's ceiling ({}, {})", "kernel", human_seconds(timing.seconds),
                      timing.share_of_ceiling * 100, timing.zone,
                      timing.gpu.empty() ? fmt::format("{} threads", timing.threads) : "measured on " + timing.gpu);
  if (timing.gflops_per_second > 0) text += fmt::format(", {:.3g} GFLOP/s", timing.gflops_per_second);
  text += fmt::format(", {:.3g} GB/s\n", timing.gbytes_per_second);
  if (timing.prepare_seconds > 0)
    text += fmt::format("  {:<10}{} once per weights, holds {}\n", "prepare", human_seconds(timing.prepare_seconds),
                        human_bytes(timing.prepare_bytes));
  if (timing.memory_bytes > 0) {
    const std::string eager =
        timing.eager_bytes > 0 ? fmt::format("; eager's values take {}", human_bytes(timing.eager_bytes)) : "";
    text += fmt::format("  {:<10}{} for outputs and scratch{}\n", "memory", human_bytes(timing.memory_bytes), eager);
  }
  text += ceiling_notes(timing, paint);
  for (const auto& note : timing.notes) text += paint.faint(fmt::format("  {:<10}{}\n", "note", note));
  return text;
}

std::string text_of(const EstimateRecord& estimate, const Paint& paint) {
  constexpr std::size_t kMostLaunches = 8, kMostResources = 5;
  std::string text = fmt::format(
      "  {:<10}{} a call on {}, limited by {}, {:.0f}% of the speed of light (an estimate, not a measurement)\n", "estimate",
      human_seconds(estimate.seconds), estimate.gpu_name, estimate.limiting, 100 * estimate.share_of_speed_of_light);
  text += fmt::format("  {:<10}{}: no call below {}, {:.0f}% of that roofline\n", "zone", estimate.zone,
                      human_seconds(estimate.floor_seconds), 100 * estimate.share_of_ceiling);
  for (std::size_t i = 0; i < std::min(estimate.launches.size(), kMostLaunches); ++i) {
    const LaunchEstimate& each = estimate.launches[i];
    text += fmt::format("  {:<10}{}{}  <<<{}, {}>>>  {}, {}\n", "launch", without_parameters(each.kernel).substr(0, 60),
                        each.launches > 1 ? fmt::format(" ({} times)", each.launches) : "", fmt::join(each.grid, "x"),
                        fmt::join(each.block, "x"), human_seconds(each.seconds), each.limiting);
    std::vector<std::string> shares;
    for (std::size_t r = 0; r < std::min(each.resources.size(), kMostResources); ++r)
      shares.push_back(fmt::format("{} {:.0f}%", each.resources[r].resource, 100 * each.resources[r].share));
    text += paint.faint(fmt::format(
        "  {:<10}{}; occupancy {:.0f}% ({}), {} registers{}, {} bytes shared, {:.2f} waves\n", "", fmt::join(shares, ", "),
        100 * each.occupancy, each.occupancy_limiter, each.registers > 0 ? std::to_string(each.registers) : "unknown",
        each.spill_bytes > 0 ? fmt::format(", {} bytes of spills", each.spill_bytes) : "", each.shared_bytes, each.waves));
    for (const auto& note : each.notes) text += paint.faint(fmt::format("  {:<10}{}\n", "", note));
  }
  if (estimate.launches.size() > kMostLaunches)
    text += fmt::format("  {:<10}... and {} more kernels\n", "", estimate.launches.size() - kMostLaunches);
  for (const auto& note : estimate.notes) text += paint.faint(fmt::format("  {:<10}{}\n", "note", note));
  return text;
}

}  // namespace kw
