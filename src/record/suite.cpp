#include "record/suite.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kw {

KW_JSON_FIELDS(SuiteComparison, speedup, interval)
namespace stored {
KW_JSON_FIELDS(SuiteRow, problem, hash, outcome, message, scaling, run, author, kernel, zone, eager, compile, seconds,
               share_of_ceiling, evaluations, spent_seconds)
}

// What follows from the rest is written for those who read it, and never read.
void to_json(Json& json, const SuiteRow& row) {
  stored::to_json(json, row);
  json["standing"] = name_of(row.standing());
}
void from_json(const Json& json, SuiteRow& row) { stored::from_json(json, row); }

Standing SuiteRow::standing() const {
  std::vector<Comparison> comparisons;
  for (const auto& [name, each] : {std::pair{"eager", &eager}, std::pair{"compile", &compile}}) {
    if (!passed() || each->speedup <= 0) continue;
    comparisons.emplace_back();
    comparisons.back().baseline = name;
    comparisons.back().speedup = each->speedup;
    comparisons.back().interval = each->interval;
  }
  return standing_of(comparisons);
}

KW_JSON_FIELDS(SuiteSettings, search, seconds, evaluations, seed, precision, threads, compile, scale_to)
KW_JSON_FIELDS(SuiteUnderWay, problem, hash, run, scaling, sessions, evaluations)

void to_json(Json& json, const SuiteRecord& suite) {
  json = Json{{"name", suite.name},         {"settings", suite.settings},
              {"machine", suite.machine},   {"torch_version", suite.torch_version},
              {"problems", suite.problems}, {"rows", suite.rows},
              {"skipped", suite.skipped},   {"under_way", suite.under_way ? Json(*suite.under_way) : Json()}};
}

void from_json(const Json& json, SuiteRecord& suite) {
  json.at("name").get_to(suite.name);
  json.at("settings").get_to(suite.settings);
  json.at("machine").get_to(suite.machine);
  json.at("torch_version").get_to(suite.torch_version);
  json.at("problems").get_to(suite.problems);
  json.at("rows").get_to(suite.rows);
  json.at("skipped").get_to(suite.skipped);
  suite.under_way.reset();
  if (json.at("under_way").is_null()) return;
  Json under_way{{"scaling", ""}};  // results may lie there that do not say it
  under_way.update(json.at("under_way"));
  suite.under_way = under_way.get<SuiteUnderWay>();
}

namespace {

constexpr double kFastSteps[] = {0, 0.5, 0.8, 1, 1.5, 2, 4};

SuiteMeans means_of(const SuiteRecord& suite, SuiteComparison SuiteRow::*baseline) {
  SuiteMeans means;
  std::vector<double> speedups;
  for (const SuiteRow& row : suite.rows) {
    const double speedup = (row.*baseline).speedup;
    if (!row.passed() || speedup <= 0) continue;
    speedups.push_back(speedup);
    means.geometric += std::log(speedup);
    if (means.slowest == nullptr || speedup < (means.slowest->*baseline).speedup) means.slowest = &row;
    if (means.fastest == nullptr || speedup > (means.fastest->*baseline).speedup) means.fastest = &row;
  }
  means.count = static_cast<int>(speedups.size());
  if (speedups.empty()) return means;
  means.geometric = std::exp(means.geometric / static_cast<double>(speedups.size()));
  std::sort(speedups.begin(), speedups.end());
  const std::size_t middle = speedups.size() / 2;
  means.median = speedups.size() % 2 == 1 ? speedups[middle] : (speedups[middle - 1] + speedups[middle]) / 2;
  return means;
}

Json json_of(const SuiteMeans& means, SuiteComparison SuiteRow::*baseline) {
  const auto name = [](const SuiteRow* row) { return row != nullptr ? Json(row->problem) : Json(); };
  const auto speedup = [&](const SuiteRow* row) { return row != nullptr ? (row->*baseline).speedup : 0.0; };
  return {{"count", means.count},
          {"geometric_mean", means.geometric},
          {"median", means.median},
          {"slowest", name(means.slowest)},
          {"slowest_speedup", speedup(means.slowest)},
          {"fastest", name(means.fastest)},
          {"fastest_speedup", speedup(means.fastest)}};
}

}  // namespace

SuiteTotals totals_of(const SuiteRecord& suite) {
  SuiteTotals totals;
  totals.problems = static_cast<int>(suite.problems.size());
  totals.done = static_cast<int>(suite.rows.size());
  totals.passed = static_cast<int>(std::ranges::count_if(suite.rows, &SuiteRow::passed));
  const auto count = [&](Standing standing) {
    return static_cast<int>(std::ranges::count_if(suite.rows, [&](const SuiteRow& row) { return row.standing() == standing; }));
  };
  totals.faster = count(Standing::faster);
  totals.slower = count(Standing::slower);
  totals.unclear = count(Standing::unclear);
  for (const double step : kFastSteps) {
    FastShare share{step, 0, 0};
    for (const SuiteRow& row : suite.rows)
      if (row.passed() && (step == 0 || row.eager.speedup > step)) ++share.problems;
    if (totals.done > 0) share.share = static_cast<double>(share.problems) / totals.done;
    totals.fast.push_back(share);
  }
  totals.eager = means_of(suite, &SuiteRow::eager);
  totals.compile = means_of(suite, &SuiteRow::compile);
  double sum = 0;
  int both = 0;
  for (const SuiteRow& row : suite.rows)
    if (row.eager.speedup > 0 && row.compile.speedup > 0) sum += std::log(row.eager.speedup / row.compile.speedup), ++both;
  if (both > 0) totals.compile_over_eager = std::exp(sum / both);
  return totals;
}

void to_json(Json& json, const SuiteTotals& totals) {
  Json fast = Json::array();
  for (const FastShare& share : totals.fast)
    fast.push_back({{"above", share.above}, {"problems", share.problems}, {"share", share.share}});
  json = Json{{"problems", totals.problems},
              {"done", totals.done},
              {"passed", totals.passed},
              {"faster", totals.faster},
              {"slower", totals.slower},
              {"unclear", totals.unclear},
              {"fast", std::move(fast)},
              {"over_eager", json_of(totals.eager, &SuiteRow::eager)},
              {"over_compile", json_of(totals.compile, &SuiteRow::compile)},
              {"compile_over_eager", totals.compile_over_eager}};
}

}  // namespace kw
