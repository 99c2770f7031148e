#include "agent/conductor.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agent/record_check.h"
#include "agent/translator.h"

namespace kw {
namespace {

constexpr std::size_t kMostAttempts = 6;  // of a lineage, the first included
constexpr int kMostRewrites = 2;
constexpr int kRepairsWithoutProgress = 2;

bool was_written(const Individual& individual) { return !individual.kernel.source.empty(); }

}  // namespace

std::string_view name_of(Decision decision) {
  static constexpr std::array<std::string_view, 4> kNames{"repair", "regenerate", "drop", "undecided"};
  return kNames[static_cast<std::size_t>(decision)];
}

int progress_of(const Individual& individual) {
  if (!was_written(individual)) return 0;
  switch (individual.verdict) {
    case Verdict::compile_failed:
    case Verdict::forbidden:
      return 1;
    case Verdict::crashed:
    case Verdict::timed_out:
    case Verdict::out_of_memory:
      return 2;
    case Verdict::wrong:
      return 3;
    case Verdict::imprecise:
    case Verdict::mistrusted:
      return 4;
    case Verdict::passed:
      return 5;
  }
  return 0;
}

Conduct decide_by_rules(const std::vector<const Individual*>& lineage) {
  if (lineage.empty() || lineage.back()->passed()) return {Decision::drop, "there is nothing to repair", -1};
  const Individual& last = *lineage.back();
  const auto rewrites =
      std::count_if(lineage.begin(), lineage.end(), [](const Individual* each) { return each->proposal.task == "regenerate"; });
  const auto rewrite_or_drop = [&](const std::string& why) -> Conduct {
    return rewrites < kMostRewrites ? Conduct{Decision::regenerate, why, -1}
                                    : Conduct{Decision::drop, why + ", after two new beginnings", -1};
  };
  if (lineage.size() >= kMostAttempts) return {Decision::drop, fmt::format("{} attempts are enough", lineage.size()), -1};
  const bool unanswered = !last.faults.empty() && last.faults.back() == "no_answer";
  if (!was_written(last) && unanswered) return {Decision::drop, "the model gave no answer", -1};
  if (last.verdict == Verdict::mistrusted) return {Decision::drop, "its timing cannot be trusted", -1};

  // The best state so far is where a repair goes on; the earliest of equals, for it has the fewest changes.
  const Individual* best = nullptr;
  for (const Individual* each : lineage)
    if (was_written(*each) && (best == nullptr || progress_of(*each) > progress_of(*best))) best = each;
  if (best == nullptr) return rewrite_or_drop("no attempt gave a kernel");

  // Attempts since the lineage last came further.
  int futile = 0;
  bool same_words = false;
  for (auto each = lineage.rbegin(); each != lineage.rend() && *each != best; ++each) {
    ++futile;
    same_words = same_words || (*each)->diagnosis == best->diagnosis;
  }
  if (last.verdict == Verdict::timed_out || last.verdict == Verdict::out_of_memory) {
    const auto before =
        std::count_if(lineage.begin(), lineage.end(), [&](const Individual* each) { return each->verdict == last.verdict; });
    if (before > 1) return {Decision::drop, "it takes too much time or memory again", -1};
  }
  if (futile >= kRepairsWithoutProgress) {
    if (progress_of(*best) <= 1) return rewrite_or_drop("repairs did not make it compile");
    if (same_words) return rewrite_or_drop("repairs leave it as wrong as it was");
    return {Decision::undecided, "repairs change what is wrong but come no further", best->index};
  }
  return {Decision::repair, futile == 0 ? "it can be diagnosed" : "back to the best state so far", best->index};
}

Conduct decide_by_model(Desk& desk, const TaskBrief& brief, const std::vector<const Individual*>& lineage) {
  Conduct conduct = decide_by_rules(lineage);
  PromptValues values = values_of(brief, desk.library(), desk.compact());
  std::vector<std::string> lines;
  for (const Individual* each : lineage)
    lines.push_back(fmt::format("{} {}: {}: {}", each->proposal.task, each->index, name_of(each->verdict), each->diagnosis));
  values["history"] = quoted_lines(fmt::format("{}", fmt::join(lines, "\n")));
  static constexpr std::array<std::string_view, 3> kChoices{"repair", "regenerate", "drop"};
  std::string word, why;
  const Desk::Question question{.role = "conductor", .values = values, .answer_tokens = 300, .json = true};
  const auto fault = desk.ask(question, [&](const Exchange& exchange) -> std::optional<Fault> {
    const JsonAnswer answer = json_of_answer(exchange.answer, exchange.finish);
    if (answer.fault) return answer.fault;
    RecordCheck check(answer.json);
    word = check.one_of("decision", kChoices);
    why = check.optional_text("why", 1000);
    if (!check.problems().empty()) return Fault{AnswerFault::wrong_record, check.problem_text()};
    return std::nullopt;
  });
  conduct.why = fault ? "the conductor's answer could not be used" : why;
  conduct.decision = Decision::drop;
  if (!fault && word == "repair") conduct.decision = Decision::repair;
  if (!fault && word == "regenerate") conduct.decision = Decision::regenerate;
  return conduct;
}

}  // namespace kw
