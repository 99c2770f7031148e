#include "agent/brief.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agent/cpp_shape.h"
#include "agent/prompt.h"

namespace kw {

std::string graph_argument(const Json& argument) {
  if (argument.contains("ref")) return argument.at("ref").get<std::string>();
  if (argument.contains("const")) return argument.at("const").dump();
  if (argument.contains("float")) return argument.at("float").get<std::string>();
  if (argument.contains("dtype")) return argument.at("dtype").get<std::string>();
  if (argument.contains("scalar")) return argument.at("scalar").get<std::string>();
  if (!argument.contains("list")) return "?";
  std::vector<std::string> parts;
  for (const Json& each : argument.at("list")) parts.push_back(graph_argument(each));
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

std::string graph_line(const Json& node) {
  std::vector<std::string> arguments;
  for (const Json& argument : node.value("args", Json::array())) arguments.push_back(graph_argument(argument));
  std::string op = node.value("op", "?");
  if (op.ends_with(".default")) op.resize(op.size() - 8);
  std::string result;
  if (node.contains("shape") && node.at("shape").is_array())
    result = fmt::format(" -> {}{}", node.value("dtype", ""), node.at("shape").dump());
  return fmt::format("{} = {}({}){}", node.value("name", "?"), op, fmt::join(arguments, ", "), result);
}

std::string graph_summary(const ProblemDescription& problem, std::size_t most_lines) {
  if (!problem.graph.is_object()) return "unknown: " + problem.graph_error;
  const auto read = read_fields("graph", [&] {
    std::vector<std::string> lines;
    std::size_t calls = 0;
    for (const Json& node : problem.graph.at("nodes")) {
      if (node.value("kind", "call") != "call") continue;
      if (++calls <= most_lines) lines.push_back(graph_line(node));
    }
    if (calls > most_lines) lines.push_back(fmt::format("... and {} more", calls - most_lines));
    return fmt::format("{}", fmt::join(lines, "\n"));
  });
  return read ? *read : "unknown";
}

std::string tensor_line(const TensorSpec& spec) {
  if (spec.kind == TensorKind::scalar) return fmt::format("{}: a number, by value", spec.c_name);
  const std::string_view role = spec.kind == TensorKind::output ? "output" : "read-only";
  std::string line = fmt::format("{}: {} {}[{}]", spec.c_name, role, torch_name(spec.dtype), fmt::join(spec.shape, ", "));
  if (!spec.is_contiguous()) line += fmt::format(", strides [{}]", fmt::join(spec.strides, ", "));
  return line;
}

std::string tensor_lines(const ProblemDescription& problem) {
  std::vector<std::string> lines;
  for (const TensorSpec* spec : problem.arguments()) lines.push_back(tensor_line(*spec));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::string model_class(const std::string& problem_source) {
  std::string text;
  bool inside = false;
  for (const std::string& line : lines_of(problem_source)) {
    if (line.starts_with("class Model"))
      inside = true;
    else if (inside && !line.empty() && line.front() != ' ' && line.front() != '\t' && line.front() != '#')
      break;
    if (inside) text += line + "\n";
  }
  while (text.ends_with("\n\n")) text.pop_back();
  return text.empty() ? problem_source : text;
}

std::string telling_rows(const Ledger& ledger, const std::string& zone, const std::string& workload_class, std::size_t most) {
  std::vector<std::pair<double, LedgerRow>> rows;
  for (const LedgerRow& row : ledger.rows()) {
    if (row.n + row.failures == 0) continue;
    const double surprise = row.n > 0 ? std::abs(std::log(row.measured / row.predicted)) + std::abs(std::log(row.measured)) : 0.2;
    const double near = (row.zone == zone ? 2.0 : 1.0) * (row.workload_class == workload_class ? 3.0 : 1.0);
    rows.emplace_back(near * (surprise + 0.1) * std::sqrt(static_cast<double>(row.n + row.failures)), row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> lines;
  for (const auto& [weight, row] : rows) {
    if (lines.size() == most) break;
    lines.push_back(fmt::format("{} ({}, {}): promised {:.2f}x, gave {:.2f}x in {} measurements, {} failures", row.strategy,
                                row.zone, row.workload_class, row.predicted, row.measured, row.n, row.failures));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::string strategy_line(const Strategy& strategy, bool with_reason) {
  std::string line = fmt::format("{} [{}]: {}", strategy.id, strategy.lever, strategy.name);
  if (with_reason) line += fmt::format(". {}", strategy.why);
  if (!strategy.knobs.empty()) {
    std::vector<std::string> knobs;
    for (const auto& [name, values] : strategy.knobs) knobs.push_back(fmt::format("{} in {{{}}}", name, fmt::join(values, ", ")));
    line += fmt::format(" (knobs: {})", fmt::join(knobs, "; "));
  }
  return line;
}

std::string roughly(double number) {
  if (!(number > 0) || !std::isfinite(number)) return "0";
  // Steps of about a fifth: 1, 1.2, 1.5, 1.8, 2.2, ... 10.
  const double steps = 12, exponent = std::round(std::log10(number) * steps) / steps;
  return fmt::format("{:.2g}", std::pow(10, exponent));
}

std::string individual_line(const Individual& individual) {
  std::string line = fmt::format("kernel {} by {}: ", individual.index, individual.kernel.author);
  if (individual.passed() && individual.speedup > 0)
    line += fmt::format("about {}x as fast as PyTorch, {}% of the ceiling", roughly(individual.speedup),
                        roughly(100 * individual.share_of_ceiling));
  else
    line += fmt::format("{} ({})", name_of(individual.verdict), individual.diagnosis);
  const auto does = individual.passed() ? individual.real_strategies() : individual.proposal.strategies;
  return does.empty() ? line + "; plain" : line + fmt::format("; strategies: {}", fmt::join(does, ", "));
}

std::string diagnosis_text(Verdict verdict, const Diagnosis& diagnosis, bool compact) {
  std::string text = fmt::format("verdict: {} at stage {}\nsummary: {}\n", name_of(verdict), diagnosis.stage, diagnosis.summary);
  if (!diagnosis.place.empty()) text += fmt::format("place: {}\n", diagnosis.place);
  // Of what ran, evidence speaks of drawn inputs and of threads; of what did not compile, only of the text.
  const bool of_the_text = diagnosis.stage == "compile" || diagnosis.stage == "screen" || diagnosis.stage == "write";
  if (!compact || of_the_text)
    for (const std::string& line : diagnosis.evidence) text += fmt::format("evidence: {}\n", line);
  if (!diagnosis.pattern.empty()) text += fmt::format("pattern: {}\n", diagnosis.pattern);
  if (!diagnosis.hint.empty()) text += fmt::format("hint: {}\n", diagnosis.hint);
  return quoted_lines(text);
}

}  // namespace kw
