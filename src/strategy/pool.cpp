#include "strategy/pool.h"

#include <algorithm>
#include <cmath>
#include <regex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.h"
#include "strategy/condition.h"

namespace kw {
namespace {

template <typename Words>
bool has_word(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_strategy_id(const std::string& id) {
  return !id.empty() && id.front() >= 'a' && id.front() <= 'z' &&
         std::all_of(id.begin(), id.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

Result<bool> readable_pattern(const std::string& pattern) {
  if (pattern.empty()) return bad_input("an evidence pattern is empty", "write what to look for");
  try {
    const std::regex read(pattern);
    return true;
  } catch (const std::regex_error& e) {
    return bad_input(fmt::format("the evidence pattern '{}' cannot be read: {}", pattern, e.what()),
                     "write an ECMAScript regular expression");
  }
}

// One that any line matches would make every claim true.
bool matches_everything(const std::string& pattern) { return std::regex_search("", std::regex(pattern)); }

std::vector<std::string> parts_of_class(std::string_view workload_class) {
  std::vector<std::string> parts;
  while (!workload_class.empty()) {
    const std::size_t plus = workload_class.find(" + ");
    parts.emplace_back(workload_class.substr(0, plus));
    workload_class = plus == std::string_view::npos ? std::string_view() : workload_class.substr(plus + 3);
  }
  return parts;
}

bool fits_class(const Strategy& strategy, const std::vector<std::string>& parts) {
  if (strategy.classes.empty()) return true;
  return std::any_of(parts.begin(), parts.end(), [&](const std::string& part) { return has_word(strategy.classes, part); });
}

}  // namespace

Result<StrategyPool> StrategyPool::load(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::path& part : {folder, folder / "gpu", folder / "opencl"})
    for (const auto& entry : entries_of(part))
      if (entry.path().extension() == ".json") files.push_back(entry.path());
  if (files.empty())
    return bad_input(fmt::format("there are no strategies (*.json) in {}", folder.string()),
                     "set KERNELWRIGHT_ROOT to a checkout, which has knowledge/strategies");
  std::sort(files.begin(), files.end());
  std::vector<Origin> read;
  for (const fs::path& file : files) {
    KW_TRY(const std::string text, read_file(file));
    KW_TRY(const Json json, parse_json(text, file.string()));
    if (!json.is_array()) return bad_input(file.string() + " is no array of strategies", "put [ and ] around its records");
    for (const Json& entry : json) {
      const std::string id =
          entry.is_object() && entry.contains("id") && entry["id"].is_string() ? entry["id"].get<std::string>() : "without an id";
      KW_TRY(auto strategy, read_fields(fmt::format("{}: strategy {}", file.string(), id), [&] { return entry.get<Strategy>(); }));
      read.push_back({file.string(), std::move(strategy)});
    }
  }
  return checked(std::move(read));
}

Result<StrategyPool> StrategyPool::load_own() {
  KW_TRY(const fs::path root, install_root());
  return load(root / "knowledge" / "strategies");
}

Result<StrategyPool> StrategyPool::from(std::vector<Strategy> strategies) {
  std::vector<Origin> read;
  for (Strategy& strategy : strategies) read.push_back({"the given strategies", std::move(strategy)});
  return checked(std::move(read));
}

// What can be said of a strategy without the others.
Status StrategyPool::check(const Origin& origin) {
  const Strategy& s = origin.strategy;
  const auto wrong = [&](const std::string& what, const std::string& hint) {
    return bad_input(fmt::format("{}: strategy '{}': {}", origin.file, s.id, what), hint);
  };
  if (!is_strategy_id(s.id)) return wrong("its id is not in snake_case", "use a-z, 0-9 and _, a letter first");
  if (s.name.empty() || s.applies.empty() || s.why.empty())
    return wrong("name, applies or why is empty", "say in words what it is, where it applies and why it pays");
  if (s.target != "cpu" && s.target != "gpu" && s.target != "opencl")
    return wrong(fmt::format("there is no target '{}'", s.target), "cpu, gpu or opencl");
  if (!has_word(levers(s.target), s.lever))
    return wrong(fmt::format("there is no lever '{}'", s.lever), fmt::format("one of: {}", fmt::join(levers(s.target), ", ")));
  if (s.zones.empty()) return wrong("it names no zone", fmt::format("some of: {}", fmt::join(zones(), ", ")));
  for (const std::string& zone : s.zones)
    if (!has_word(zones(), zone))
      return wrong(fmt::format("there is no zone '{}'", zone), fmt::format("some of: {}", fmt::join(zones(), ", ")));
  for (const std::string& name : s.classes)
    if (!has_word(workload_classes(), name))
      return wrong(fmt::format("there is no workload class '{}'", name),
                   fmt::format("some of: {}; none means all", fmt::join(workload_classes(), ", ")));
  if (!std::isfinite(s.predicts) || s.predicts <= 0)
    return wrong(fmt::format("it predicts {}", s.predicts), "times faster, above 0: 1.3 is a third more");
  for (const std::string& condition : s.when)
    if (const auto status = check_condition(condition); !status) return wrong(status.error().message, status.error().hint);
  for (const auto& [knob, values] : s.knobs)
    if (knob.rfind("KW_", 0) != 0 || values.empty())
      return wrong(fmt::format("knob '{}' is no macro KW_... with values", knob), "\"KW_TILE\": [2, 4, 8]");
  for (const EvidenceCheck& check : s.evidence) {
    const bool in_machine_code = check.where == "assembly" || check.where == "hot_loop";
    const bool in_ptx = check.where == "ptx" || check.where == "ptx_facts";
    if (check.where != "source" && !(s.target == "gpu" ? in_ptx : in_machine_code))
      return wrong(fmt::format("evidence cannot be in '{}'", check.where),
                   s.target == "gpu" ? "one of: source, ptx, ptx_facts" : "one of: source, assembly, hot_loop");
    if (!check.isa.empty() && check.isa != "x86" && check.isa != "arm")
      return wrong(fmt::format("there is no isa '{}'", check.isa), "x86, arm, or leave it out");
    if (const auto read = readable_pattern(check.pattern); !read) return wrong(read.error().message, read.error().hint);
    if (matches_everything(check.pattern))
      return wrong(fmt::format("the evidence pattern '{}' matches an empty line", check.pattern), "make it tell something");
  }
  const bool seen = std::any_of(s.evidence.begin(), s.evidence.end(), [](const EvidenceCheck& check) { return !check.absent; });
  if (s.telling && !seen) return wrong("it is telling without evidence that must be there", "add evidence, or leave telling out");
  return {};
}

Result<StrategyPool> StrategyPool::checked(std::vector<Origin> read) {
  std::stable_sort(read.begin(), read.end(), [](const Origin& a, const Origin& b) { return a.strategy.id < b.strategy.id; });
  StrategyPool pool;
  for (const Origin& origin : read) {
    KW_CHECK(check(origin));
    if (pool.find(origin.strategy.id))
      return bad_input(fmt::format("{}: strategy '{}' is there twice", origin.file, origin.strategy.id), "give each its own id");
    pool.strategies_.push_back(origin.strategy);
  }
  for (const Origin& origin : read) {
    const Strategy& s = origin.strategy;
    const auto named = [&](const std::vector<std::string>& ids, const char* what) -> Status {
      for (const std::string& id : ids)
        if (id == s.id || !pool.find(id))
          return bad_input(fmt::format("{}: strategy '{}' {} '{}', which is no other strategy", origin.file, s.id, what, id),
                           "name strategies by their ids");
      for (const std::string& id : ids)
        if (pool.find(id)->target != s.target)
          return bad_input(
              fmt::format("{}: strategy '{}' {} '{}', which is for {}", origin.file, s.id, what, id, pool.find(id)->target),
              "name strategies of the same target");
      return {};
    };
    KW_CHECK(named(s.conflicts, "conflicts with"));
    KW_CHECK(named(s.needs, "needs"));
    for (const std::string& id : s.needs)
      if (pool.conflict(s.id, id))
        return bad_input(fmt::format("{}: strategy '{}' needs '{}' and conflicts with it", origin.file, s.id, id),
                         "drop one of both");
  }
  return pool;
}

const Strategy* StrategyPool::find(std::string_view id) const {
  const auto found = std::lower_bound(strategies_.begin(), strategies_.end(), id,
                                      [](const Strategy& strategy, std::string_view wanted) { return strategy.id < wanted; });
  return found != strategies_.end() && found->id == id ? &*found : nullptr;
}

std::vector<std::string> StrategyPool::ids(std::string_view target) const {
  std::vector<std::string> ids;
  for (const Strategy& strategy : strategies_)
    if (strategy.target == target) ids.push_back(strategy.id);
  return ids;
}

bool StrategyPool::conflict(std::string_view a, std::string_view b) const {
  const Strategy* first = find(a);
  const Strategy* second = find(b);
  return (first && has_word(first->conflicts, b)) || (second && has_word(second->conflicts, a));
}

std::vector<std::string> StrategyPool::applicable(const Features& features, std::string_view zone, std::string_view workload_class,
                                                  const std::vector<std::string>& available) const {
  const auto parts = parts_of_class(workload_class);
  std::vector<const Strategy*> fitting;
  for (const Strategy& strategy : strategies_)
    if (has_word(available, strategy.id) && fits_class(strategy, parts) && conditions_hold(strategy.when, features))
      fitting.push_back(&strategy);
  const auto fits = [&](const std::string& id) {
    return std::any_of(fitting.begin(), fitting.end(), [&](const Strategy* strategy) { return strategy->id == id; });
  };
  for (bool changed = true; changed;) {
    const auto lacks = std::find_if(fitting.begin(), fitting.end(), [&](const Strategy* strategy) {
      return !std::all_of(strategy->needs.begin(), strategy->needs.end(), fits);
    });
    changed = lacks != fitting.end();
    if (changed) fitting.erase(lacks);
  }
  std::stable_sort(fitting.begin(), fitting.end(), [&](const Strategy* a, const Strategy* b) {
    if (pays_in(*a, zone) != pays_in(*b, zone)) return pays_in(*a, zone);
    return a->predicts > b->predicts;
  });
  std::vector<std::string> ids;
  for (const Strategy* strategy : fitting) ids.push_back(strategy->id);
  return ids;
}

bool pays_in(const Strategy& strategy, std::string_view zone) { return has_word(strategy.zones, zone); }

std::string main_class(std::string_view workload_class) {
  return std::string(workload_class.substr(0, workload_class.find(" + ")));
}

}  // namespace kw
