#include "cli/commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dsl/problem_header.h"
#include "machine/machine_cache.h"
#include "problem/problem_source.h"
#include "report/run_text.h"
#include "search/assembly.h"
#include "search/coder.h"
#include "search/unknown_operations.h"

namespace kw {
namespace {

std::string unknown_text(const UnknownOperations& unknown) {
  if (unknown.operations.empty()) return "";
  std::string text = fmt::format("unknown      the playbook does not know {}: optimize needs a model for it (--model NAME)\n",
                                 fmt::join(unknown.operations, ", "));
  if (!unknown.pieces.empty()) text += "             what can be searched without one:\n";
  for (const std::string& line : piece_lines(unknown.pieces, "")) text += "               " + line + "\n";
  return text;
}

}  // namespace

Result<int> run_describe(const DescribeOptions& options, Output& output) {
  const auto progress = [&](std::string_view text) { output.progress(text); };
  OracleClient oracle({0, {}, progress});
  KW_TRY(const ProblemSource source, load_problem(options.problem, oracle));
  MachineRequest request;
  request.progress = progress;
  KW_TRY(const Machine machine, this_machine(request));
  const auto& problem = source.description;
  const int threads = options.threads > 0 ? options.threads : machine.cores;
  if (threads > machine.cores)
    return bad_input("--threads " + std::to_string(threads) + " is more than the " + std::to_string(machine.cores) +
                         " cores that may be used here",
                     "leave --threads out to use them all");
  const Workload workload{problem.flops, problem.bytes, problem.essential_bytes};
  const Roofline roofline = roofline_of(machine, workload, threads);
  const WorkloadClass kind = workload_class(problem);
  const std::string declaration = kernel_declaration(problem, false);

  Json json = problem;
  json["workload_class"] = {{"main", kind.main}, {"also", kind.also}};
  json["roofline"] = {{"zone", name_of(roofline.zone)},
                      {"floor_seconds", roofline.floor_seconds},
                      {"compute_seconds", roofline.compute_seconds},
                      {"memory_seconds", roofline.memory_seconds},
                      {"intensity", roofline.intensity},
                      {"ridge", roofline.ridge},
                      {"threads", threads}};
  json["kernel"] = declaration;
  const std::vector<PartRecord> parts = parts_of_problem(problem, machine, threads);
  if (!parts.empty()) json["sub_problems"] = parts;
  std::string text = text_of(problem, kind, machine, roofline, threads, declaration, output.paint());
  text += parts_text(parts, output.paint());

  const auto unknown = unknown_operations_of(
      as_searched(source, oracle), [&](const ProblemDescription& piece) { return playbook_coder(piece, machine, threads).ok(); });
  json["unknown_operations"] = unknown.operations;
  if (!unknown.operations.empty()) json["searchable_pieces"] = unknown.pieces;
  text += unknown_text(unknown);
  output.result(text, json);
  return kPassed;
}

}  // namespace kw
