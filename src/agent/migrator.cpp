#include "agent/migrator.h"

#include <fmt/format.h>

namespace kw {
namespace {

constexpr int kMigratedTokens = 6000;

}  // namespace

WrittenKernel migrate_kernel(Desk& desk, const TaskBrief& brief, const MigrationTask& task) {
  const bool compact = desk.compact();
  Desk::Question question{
      .role = "migrator", .values = values_of(brief, desk.library(), compact), .answer_tokens = kMigratedTokens};
  std::vector<std::string> claims;
  std::string lines;
  for (const Strategy& strategy : task.strategies) {
    lines += fmt::format("- {}\n", strategy_line(strategy, !compact));
    claims.push_back(strategy.id);
  }
  question.values["strategies"] = lines;
  question.values["from"] = task.from;
  question.values["source"] = quoted_code(task.source, "");
  return ask_for_kernel(desk, brief, std::move(question), claims);
}

}  // namespace kw
