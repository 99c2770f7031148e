#include "agent/aligner.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agent/cpp_shape.h"
#include "agent/record_check.h"
#include "agent/translator.h"

namespace kw {
namespace {

std::string without_blanks(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != ' ' && c != '\t' && c != '\n') out += c;
  return out;
}

}  // namespace

void settle_unknown(Desk& desk, const TaskBrief& brief, const std::string& source, const std::vector<Strategy>& strategies,
                    std::vector<AlignedStrategy>& aligned) {
  std::vector<std::string> lines, open;
  for (const AlignedStrategy& each : aligned) {
    if (each.presence != Presence::unknown) continue;
    const auto known = std::find_if(strategies.begin(), strategies.end(), [&](const Strategy& one) { return one.id == each.id; });
    if (known == strategies.end()) continue;
    open.push_back(each.id);
    lines.push_back("- " + strategy_line(*known, true));
  }
  if (open.empty()) return;
  PromptValues values = values_of(brief, desk.library(), desk.compact());
  values["source"] = quoted_code(source, desk.library().words().fence);
  values["claims"] = fmt::format("{}", fmt::join(lines, "\n"));
  const std::string code = without_blanks(code_without_comments(source));
  const Desk::Question question{.role = "aligner", .values = values, .answer_tokens = 800, .json = true};
  std::vector<AlignedStrategy> settled;
  (void)desk.ask(question, [&](const Exchange& exchange) -> std::optional<Fault> {
    settled.clear();
    const JsonAnswer answer = json_of_answer(exchange.answer, exchange.finish);
    if (answer.fault) return answer.fault;
    RecordCheck check(answer.json);
    std::size_t number = 0;
    for (const Json& one : check.list("strategies", 1, 40)) {
      RecordCheck part = check.part(one, fmt::format("strategies[{}]", number++));
      if (part.problems().empty()) {
        const std::string id = part.text("id", 200);
        const bool done = part.yes_or_no("done");
        const std::string line = done ? part.text("line", 400) : part.optional_text("line", 400);
        if (!id.empty() && std::find(open.begin(), open.end(), id) == open.end())
          part.problem("id", fmt::format("'{}' was not asked for", id));
        const std::string quoted = without_blanks(code_without_comments(line));
        if (part.problems().empty()) {
          if (!done)
            settled.push_back({id, Presence::struck, "the aligner: the code does not do it"});
          else if (quoted.size() >= 4 && code.find(quoted) != std::string::npos)
            settled.push_back({id, Presence::present, "the aligner: " + line});
          else
            desk.note(AnswerFault::unproven);
        }
      }
      check.take(part);
    }
    if (!check.problems().empty()) return Fault{AnswerFault::wrong_record, check.problem_text()};
    return std::nullopt;
  });
  for (const AlignedStrategy& one : settled)
    for (AlignedStrategy& each : aligned)
      if (each.id == one.id && each.presence == Presence::unknown) each = one;
}

}  // namespace kw
