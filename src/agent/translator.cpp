#include "agent/translator.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agent/cpp_shape.h"

namespace kw {
namespace {

constexpr int kKernelTokens = 6000;
constexpr std::size_t kGraphLines = 40, kShortGraphLines = 12;

std::string bullet_list(const std::vector<std::string>& lines) {
  return lines.empty() ? "" : fmt::format("- {}", fmt::join(lines, "\n- "));
}

}  // namespace

PromptValues values_of(const TaskBrief& brief, const Library& library, bool compact) {
  const WorkedExample& example = library.example(brief.workload_class, brief.features);
  const auto [form, nearest] = library.plain_examples(brief.workload_class, brief.features);
  const DslWords& words = library.words();
  return {{"language", words.language},
          {"hardware", words.hardware},
          {"fence", words.fence},
          {"operations", quoted_lines(operations_in_words(brief.problem, library.operation_words(), kShortGraphLines), 3000)},
          {"indices", tensors_with_indices(brief.problem, works_by_rows(brief.problem, library.operation_words()))},
          {"form_module", quoted_code(form->module, "python")},
          {"form_operations", quoted_lines(form->operations)},
          {"form_tensors", form->tensors},
          {"form_declaration", form->declaration},
          {"form_kernel", quoted_code(form->plain_source, words.fence)},
          {"near_module", quoted_code(nearest->module, "python")},
          {"near_operations", quoted_lines(nearest->operations)},
          {"near_tensors", nearest->tensors},
          {"near_declaration", nearest->declaration},
          {"near_kernel", quoted_code(nearest->plain_source, words.fence)},
          {"problem_name", brief.problem.name},
          {"problem_source", quoted_code(model_class(brief.problem_source), "python")},
          {"graph", quoted_lines(graph_summary(brief.problem, compact ? kShortGraphLines : kGraphLines), 6000)},
          {"tensors", tensor_lines(brief.problem)},
          {"declaration", brief.declaration},
          {"precision", brief.precision},
          {"zone", brief.zone},
          {"zone_numbers", brief.zone_numbers},
          {"zone_guidance", library.zone_guidance(brief.zone)},
          {"ceilings", brief.ceilings},
          {"workload_class", brief.workload_class},
          {"advice", library.advice(brief.workload_class, compact)},
          {"guide", library.guide(compact)},
          {"pitfalls", library.pitfalls()},
          {"example_statement", example.statement},
          {"example_declaration", example.declaration},
          {"example", quoted_code(example.source, words.fence)}};
}

Kernel kernel_of_model(std::string source, const std::string& dsl, const std::vector<std::string>& claims,
                       const std::string& author) {
  Kernel kernel;
  kernel.dsl = dsl;
  kernel.knobs = knobs_of(source);
  kernel.source = std::move(source);
  kernel.claims = claims;
  std::sort(kernel.claims.begin(), kernel.claims.end());
  kernel.author = author;
  return kernel;
}

WrittenKernel ask_for_kernel(Desk& desk, const TaskBrief& brief, Desk::Question question, const std::vector<std::string>& claims) {
  question.again = fmt::format("Answer again, with one complete ```{} block that defines exactly {} and nothing else.",
                               desk.library().words().fence, brief.declaration);
  CodeAnswer found;
  const auto fault = desk.ask(question, [&](const Exchange& exchange) {
    found = code_of_answer(exchange.answer, exchange.finish, brief.declaration, brief.on_gpu());
    if (!found.fault) desk.note(found.mended);
    return found.fault;
  });
  if (fault) return {{}, fault};
  return {kernel_of_model(std::move(found.code), brief.dsl, claims, desk.model().name()), std::nullopt};
}

WrittenKernel translate(Desk& desk, const TaskBrief& brief, const Translation& task) {
  const bool compact = desk.compact();
  Desk::Question question{
      .role = "translator", .values = values_of(brief, desk.library(), compact), .answer_tokens = kKernelTokens};
  question.seed = task.seed;
  std::vector<std::string> lines, claims;
  for (const Strategy& strategy : task.strategies) {
    lines.push_back(strategy_line(strategy, !compact));
    claims.push_back(strategy.id);
  }
  question.values["strategies"] = bullet_list(lines);
  // Advice is about speed; a small model that is to write the simplest kernel only gets lost in it.
  if (compact && lines.empty()) question.values["advice"] = "";
  question.values["parent"] = task.parent == nullptr ? "" : quoted_code(task.parent->kernel.source, desk.library().words().fence);
  question.values["parent_line"] = task.parent == nullptr ? "" : individual_line(*task.parent);
  question.values["findings"] = quoted_lines(bullet_list(task.findings));
  std::string failed;
  if (task.failed != nullptr) {
    failed = diagnosis_text(task.failed->verdict, task.failed->details, compact);
    if (task.failed->kernel.source.empty()) failed = quoted_lines(task.failed->diagnosis);
  }
  question.values["failed"] = failed;

  return ask_for_kernel(desk, brief, std::move(question), claims);
}

}  // namespace kw
