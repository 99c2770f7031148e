#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.h"
#include "cli/interruption.h"
#include "cli/model_choice.h"
#include "dsl/dsl.h"
#include "search/migrate.h"

namespace kw {
namespace {

std::string agreement_text(const Agreement& agreement, const std::string& from) {
  if (!agreement.compared) return fmt::format("not compared with the kernel in {}: {}", from, agreement.why_not);
  if (agreement.bitwise) return fmt::format("the same bits as the kernel in {}, on {} sets of inputs", from, agreement.sets);
  return fmt::format("{} the kernel in {}: at most {:.2g} apart where values reach {:.3g}, on {} sets of inputs",
                     agreement.within_tolerance ? "agrees with" : "differs from", from, agreement.largest_difference,
                     agreement.largest_value, agreement.sets);
}

std::string strategy_text(const CarriedStrategy& strategy) {
  if (strategy.targets.empty()) return fmt::format("  {:<9} {}: {}\n", "left", strategy.source, strategy.why);
  return fmt::format("  {:<9} {} -> {}\n", "carried", strategy.source, fmt::join(strategy.targets, ", "));
}

}  // namespace

Result<int> run_migrate(const MigrateOptions& options, Output& output) {
  if (const auto to = dsl_named(options.to); !to) return to.error();
  KW_TRY(const GpuPlace place, gpu_place_among(vgpu::present_gpus(), options.machine, options.to));
  KW_CHECK(check_out(options.out));
  const Interruption interruption;
  std::unique_ptr<Model> model;
  if (options.model.given()) {
    KW_TRY(model, opened_model(options.model, output, interruption.wanted()));
  }
  MigrationRequest request;
  request.problem_file = options.problem;
  request.kernel_file = options.kernel;
  request.from = options.from;
  request.to = options.to;
  request.out = options.out;
  request.attempts = options.attempts;
  request.evaluator.gpu = place.sheet;  // nothing is timed
  request.evaluator.precision = options.precision;
  request.evaluator.threads = options.threads;
  request.evaluator.unsafe_no_sandbox = options.unsafe_no_sandbox;
  request.model = model.get();
  KW_TRY(const Migration made, migrate(
                                   request, [&](const std::string& text) { output.progress(text); }, interruption.wanted()));
  if (!made.file.empty()) KW_CHECK(write_file_atomically(made.file, made.kernel.source));
  const auto& paint = output.paint();
  std::string text = fmt::format("{}: {} -> {}, {}\n", made.problem.name, made.from, made.to,
                                 made.passed() ? paint.good("passed") : paint.bad(std::string(name_of(made.verdict.verdict))));
  text += fmt::format("  {:<9} {}\n", "by", made.kernel.author);
  if (made.strategies.empty())
    text += fmt::format("  {:<9} no strategy shows in the source: the new kernel has nothing but fusion\n", "carried");
  for (const auto& strategy : made.strategies) text += strategy_text(strategy);
  if (!made.verdict.diagnosis.summary.empty()) text += fmt::format("  {:<9} {}\n", "what", made.verdict.diagnosis.summary);
  if (made.verdict.verdict == Verdict::passed)
    text += fmt::format("  {:<9} {}\n", "outputs", agreement_text(made.agreement, made.from));
  if (!made.file.empty()) {
    text += fmt::format("  {:<9} {}{}\n", "kernel", made.file, made.passed() ? "" : ", to be looked at: it does not count");
    text += paint.faint(fmt::format("  {:<9} {}\n", "repeat", made.verdict.repeat));
  }
  Json json = made;
  json["kernel_file"] = made.passed() ? made.file : "";
  json["failed_file"] = made.passed() ? "" : made.file;
  output.result(text, json);
  return made.passed() ? kPassed : kNotPassed;
}

}  // namespace kw
