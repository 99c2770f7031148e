// A search on each problem of a folder: one row a problem, whatever became of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "record/standing.h"

namespace kw {

// A baseline, as far as a table needs it.
struct SuiteComparison {
  double speedup = 0;  // 0: it was not timed
  Interval interval;
};

struct SuiteRow {
  std::string problem;  // its path within the folder, without .py
  std::string hash;     // of the problem's source, as it lies in the folder
  std::string outcome;  // passed, failed (no kernel passed), error (the problem could not be searched)
  std::string message;  // one sentence; empty when passed
  std::string scaling;  // what was reduced, in words; empty: nothing
  std::string run;      // in the archive; empty: none was begun
  std::string author;   // who wrote the winner: playbook, or a model's name
  std::string kernel;   // its file, within the results' folder
  std::string zone;
  SuiteComparison eager, compile;
  double seconds = 0;           // of a call of the kernel
  double share_of_ceiling = 0;  // of the roofline, by the kernel
  std::int64_t evaluations = 0;
  double spent_seconds = 0;

  [[nodiscard]] bool passed() const { return outcome == "passed"; }
  // A win is an interval above 1; so is a loss one below it.
  [[nodiscard]] bool loses_to_eager() const { return passed() && eager.speedup > 0 && eager.interval.high < 1; }
  // Beside eager and, where it was timed, torch.compile.
  [[nodiscard]] Standing standing() const;
  // The share of the same ceiling that eager reaches; 0: not known.
  [[nodiscard]] double eager_share() const { return eager.speedup > 0 ? share_of_ceiling / eager.speedup : 0; }
};

// What every problem gets; results are only put together where these agree.
struct SuiteSettings {
  std::string search = "evolve";
  double seconds = 60;
  int evaluations = 0;  // 0: no limit
  std::uint64_t seed = 0;
  std::string precision = "float32";
  int threads = 0;
  bool compile = true;   // torch.compile is a baseline too
  std::string scale_to;  // as it was written; empty: problems are as they are

  friend bool operator==(const SuiteSettings&, const SuiteSettings&) = default;
};

// The problem that is being searched: a session that ends here goes on with its run.
struct SuiteUnderWay {
  std::string problem;
  std::string hash;
  std::string run;               // empty: not yet begun
  std::string scaling;           // what its row will say of its size
  int sessions = 0;              // that were at it since its run last got further
  std::int64_t evaluations = 0;  // how far that is
};

struct SuiteRecord {
  std::string name;  // of the folder
  SuiteSettings settings;
  std::string machine;  // in words
  std::string torch_version;
  std::vector<std::string> problems;  // all, in order
  std::vector<SuiteRow> rows;         // of those that are done, in the same order
  std::vector<std::string> skipped;   // Python files that are no problems
  std::optional<SuiteUnderWay> under_way;
};

// Over all problems, those that did not pass included.
struct FastShare {
  double above = 0;  // a speedup over eager
  int problems = 0;  // that passed with more
  double share = 0;  // of all that are done
};
struct SuiteMeans {
  int count = 0;
  double geometric = 0, median = 0;
  const SuiteRow *slowest = nullptr, *fastest = nullptr;
};
struct SuiteTotals {
  int problems = 0, done = 0, passed = 0;
  int faster = 0, slower = 0, unclear = 0;  // of those that passed, beside PyTorch
  std::vector<FastShare> fast;
  SuiteMeans eager, compile;      // of those that passed
  double compile_over_eager = 0;  // torch.compile's own geometric mean, where both were timed
};
SuiteTotals totals_of(const SuiteRecord& suite);

void to_json(Json& json, const SuiteComparison& comparison);
void from_json(const Json& json, SuiteComparison& comparison);
void to_json(Json& json, const SuiteRow& row);
void from_json(const Json& json, SuiteRow& row);
void to_json(Json& json, const SuiteSettings& settings);
void from_json(const Json& json, SuiteSettings& settings);
void to_json(Json& json, const SuiteUnderWay& under_way);
void from_json(const Json& json, SuiteUnderWay& under_way);
void to_json(Json& json, const SuiteRecord& suite);
void from_json(const Json& json, SuiteRecord& suite);
void to_json(Json& json, const SuiteTotals& totals);

}  // namespace kw
