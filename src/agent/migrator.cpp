#include "agent/migrator.h"

#include <fmt/format.h>

#include "agent/cpp_shape.h"

namespace kw {
namespace {

constexpr int kMigratedTokens = 6000;

}  // namespace

WrittenKernel migrate_kernel(Desk& desk, const TaskBrief& brief, const MigrationTask& task) {
  const bool compact = desk.compact();
  Desk::Question question{
      .role = "migrator", .values = values_of(brief, desk.library(), compact), .answer_tokens = kMigratedTokens};
  question.again = fmt::format("Answer again, with one complete ```{} block that defines exactly {} and nothing else.",
                               desk.library().words().fence, brief.declaration);
  std::vector<std::string> claims;
  std::string lines;
  for (const Strategy& strategy : task.strategies) {
    lines += fmt::format("- {}\n", strategy_line(strategy, !compact));
    claims.push_back(strategy.id);
  }
  question.values["strategies"] = lines;
  question.values["from"] = task.from;
  question.values["source"] = quoted_code(task.source, "");
  CodeAnswer found;
  const auto fault = desk.ask(question, [&](const Exchange& exchange) {
    found = code_of_answer(exchange.answer, exchange.finish, brief.declaration, brief.on_gpu());
    if (!found.fault) desk.note(found.mended);
    return found.fault;
  });
  if (fault) return {{}, fault};
  return {kernel_of_model(std::move(found.code), brief.dsl, claims, desk.model().name()), std::nullopt};
}

}  // namespace kw
