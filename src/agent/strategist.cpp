#include "agent/strategist.h"

#include <algorithm>
#include <regex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agent/record_check.h"
#include "agent/similarity.h"
#include "agent/translator.h"

namespace kw {
namespace {

constexpr std::size_t kMostIdeas = 4, kMostUsed = 8, kMostKnown = 30;
constexpr std::size_t kLongestPattern = 160;
constexpr int kMostOpenQuantifiers = 3;

// snake_case out of a name, not in use yet.
std::string fresh_id(const std::string& name, const StrategyPool& pool) {
  std::string id;
  for (const char c : name) {
    const char small = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    if ((small >= 'a' && small <= 'z') || (small >= '0' && small <= '9'))
      id += small;
    else if (!id.empty() && id.back() != '_')
      id += '_';
    if (id.size() >= 40) break;
  }
  while (!id.empty() && id.back() == '_') id.pop_back();
  if (id.empty() || id.front() < 'a' || id.front() > 'z') id = "idea_" + id;
  std::string unique = "model_" + id;
  for (int number = 2; pool.find(unique) != nullptr; ++number) unique = fmt::format("model_{}_{}", id, number);
  return unique;
}

std::map<std::string, std::vector<std::int64_t>> read_knobs(RecordCheck& check, const Json& json) {
  static const std::regex kName("KW_[A-Z0-9_]{1,40}");
  std::map<std::string, std::vector<std::int64_t>> knobs;
  if (!json.contains("knobs") || json.at("knobs").is_null()) return knobs;
  if (!json.at("knobs").is_object() || json.at("knobs").size() > 4)
    return check.problem("knobs", "must be an object of at most 4 lists"), knobs;
  for (const auto& [name, values] : json.at("knobs").items()) {
    const bool whole = values.is_array() && !values.empty() && values.size() <= 8 &&
                       std::all_of(values.begin(), values.end(), [](const Json& value) {
                         return value.is_number_integer() && value.get<double>() >= 0 && value.get<double>() <= 1e9;
                       });
    if (!std::regex_match(name, kName) || !whole)
      check.problem("knobs." + name, "a knob is KW_NAME with a list of 1 to 8 whole numbers");
    else
      knobs[name] = values.get<std::vector<std::int64_t>>();
  }
  return knobs;
}

std::vector<EvidenceCheck> read_evidence(RecordCheck& check) {
  static constexpr std::array<std::string_view, 3> kWhere{"source", "assembly", "hot_loop"};
  std::vector<EvidenceCheck> evidence;
  std::size_t number = 0;
  for (const Json& one : check.list("evidence", 0, 4)) {
    RecordCheck part = check.part(one, fmt::format("evidence[{}]", number++));
    if (part.problems().empty()) {
      EvidenceCheck read;
      read.where = part.one_of("where", kWhere);
      read.pattern = part.text("pattern", kLongestPattern);
      if (part.has("absent")) read.absent = part.yes_or_no("absent");
      if (!read.pattern.empty())
        if (const auto problem = pattern_problem(read.pattern)) part.problem("pattern", *problem);
      evidence.push_back(std::move(read));
    }
    check.take(part);
  }
  return evidence;
}

// Ids in the order that they are given in, without what the ones before are in conflict with.
std::vector<std::string> compatible(const StrategyPool& pool, const std::vector<std::string>& ids) {
  std::vector<std::string> kept;
  for (const std::string& id : ids)
    if (std::find(kept.begin(), kept.end(), id) == kept.end() &&
        std::none_of(kept.begin(), kept.end(), [&](const std::string& other) { return pool.conflict(id, other); }))
      kept.push_back(id);
  return kept;
}

PromptValues values_of_request(const TaskBrief& brief, const StrategyRequest& request, Desk& desk) {
  const bool compact = desk.compact();
  PromptValues values = values_of(brief, desk.library(), compact);
  std::vector<std::string> known, parents;
  for (const std::string& id : request.usable)
    if (const Strategy* strategy = request.pool->find(id); strategy != nullptr && known.size() < kMostKnown)
      known.push_back("- " + strategy_line(*strategy, !compact));
  for (const Individual* parent : request.parents) parents.push_back("- " + individual_line(*parent));
  values["known"] = fmt::format("{}", fmt::join(known, "\n"));
  values["parents"] = fmt::format("{}", fmt::join(parents, "\n"));
  values["best_source"] =
      request.parents.empty() ? "" : quoted_code(request.parents.front()->kernel.source, desk.library().words().fence);
  values["ledger"] = request.ledger_rows;
  values["levers"] = fmt::format("{}", fmt::join(levers(), ", "));
  values["findings"] = quoted_lines(fmt::format("{}", fmt::join(request.findings, "\n")));
  values["task"] =
      request.parents.size() > 1
          ? "Cross the kernels above: choose from their strategies what should work together in one kernel, and add at most two "
            "new ones."
          : "Propose one to three new strategies that differ in what they change, and known ones to combine them with.";
  return values;
}

}  // namespace

std::optional<std::string> pattern_problem(const std::string& pattern) {
  if (pattern.size() > kLongestPattern)
    return fmt::format("has {} characters, at most {} are read", pattern.size(), kLongestPattern);
  // What matches in time that grows faster than the line: repeated groups that repeat inside, references, many open ends.
  int open_quantifiers = 0;
  std::vector<bool> repeats{false};
  bool in_class = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\') {
      if (i + 1 < pattern.size() && pattern[i + 1] >= '1' && pattern[i + 1] <= '9' && !in_class) return "refers back to a group";
      ++i;
    } else if (in_class) {
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
    } else if (c == '(') {
      repeats.push_back(false);
    } else if (c == ')' && repeats.size() > 1) {
      const bool inside = repeats.back();
      repeats.pop_back();
      const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
      if ((next == '*' || next == '+' || next == '{') && inside)
        return "repeats a group that repeats inside: it could take forever";
      if (inside) repeats.back() = true;
    } else if (c == '*' || c == '+' || c == '{') {
      repeats.back() = true;
      ++open_quantifiers;
    }
  }
  if (open_quantifiers > kMostOpenQuantifiers)
    return fmt::format("has {} repetitions, at most {} are allowed", open_quantifiers, kMostOpenQuantifiers);
  try {
    const std::regex read(pattern);
    if (std::regex_search("", read) || std::regex_search("x", read)) return "matches anything";
  } catch (const std::regex_error&) {
    return "is no regular expression (ECMAScript)";
  }
  return std::nullopt;
}

Strategy strategy_of_record(const Json& json, const std::string& path, const TaskBrief& brief, const StrategyPool& pool,
                            std::vector<std::string>& problems) {
  const Json whole = Json::object();
  RecordCheck root(whole);
  RecordCheck check = root.part(json, path);
  Strategy strategy;
  if (check.problems().empty()) {
    strategy.name = check.text("name", 120);
    strategy.lever = check.one_of("lever", levers());
    strategy.why = check.text("why", 600);
    strategy.predicts = check.number("predicts", 0.5, 50);
    strategy.knobs = read_knobs(check, json);
    strategy.evidence = read_evidence(check);
    for (const std::string& id : check.optional_texts("conflicts", 10, 100))
      if (pool.find(id) != nullptr) strategy.conflicts.push_back(id);
    strategy.id = fresh_id(strategy.name, pool);
    strategy.zones = {brief.zone};
    strategy.applies = brief.workload_class + " like " + brief.problem.name;
  }
  problems.insert(problems.end(), check.problems().begin(), check.problems().end());
  return strategy;
}

StrategyPlan plan_strategies(Desk& desk, const TaskBrief& brief, const StrategyRequest& request) {
  StrategyPlan plan;
  Desk::Question question{
      .role = "strategist", .values = values_of_request(brief, request, desk), .answer_tokens = 2000, .json = true};
  question.seed = request.seed;
  plan.fault = desk.ask(question, [&](const Exchange& exchange) -> std::optional<Fault> {
    plan = {};
    const JsonAnswer answer = json_of_answer(exchange.answer, exchange.finish);
    if (answer.fault) return answer.fault;
    desk.note(answer.mended);
    RecordCheck check(answer.json);
    std::vector<std::string> problems, used;
    std::vector<Strategy> all = request.pool->all();
    std::size_t number = 0;
    for (const Json& one : check.list("strategies", 0, kMostIdeas)) {
      Strategy idea = strategy_of_record(one, fmt::format("strategies[{}]", number++), brief, *request.pool, problems);
      if (!problems.empty()) continue;
      if (const Nearest nearest = nearest_of(idea, all); nearest.similarity >= kNearRepeat) {
        plan.refused.push_back(fmt::format("'{}' is {} again (similarity {:.2f})", idea.name, nearest.id, nearest.similarity));
        desk.note(AnswerFault::near_repeat);
        // What is there may be used; of ideas in the same answer the first stands.
        if (request.pool->find(nearest.id) != nullptr) used.push_back(nearest.id);
        continue;
      }
      for (const Strategy& other : plan.invented)
        if (other.id == idea.id) idea.id += fmt::format("_{}", number);
      all.push_back(idea);
      plan.invented.push_back(std::move(idea));
    }
    for (const std::string& id : check.optional_texts("use", kMostUsed, 100)) {
      if (request.pool->find(id) == nullptr)
        plan.refused.push_back(fmt::format("there is no strategy '{}'", id));
      else
        used.push_back(id);
    }
    problems.insert(problems.end(), check.problems().begin(), check.problems().end());
    if (problems.empty() && plan.invented.empty() && used.empty())
      problems.emplace_back("strategies: nothing new and nothing known in it");
    if (!problems.empty()) return Fault{AnswerFault::wrong_record, fmt::format("{}", fmt::join(problems, "\n"))};
    plan.use = compatible(*request.pool, used);
    return std::nullopt;
  });
  if (plan.fault) plan.invented.clear(), plan.use.clear();
  return plan;
}

}  // namespace kw
