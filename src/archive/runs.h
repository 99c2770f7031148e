// Runs in the archive: what was asked, every individual in its order, what the ledger and later runs learn from it. A run is
// continued from what is here and nothing else; no individual can be stored twice.
#pragma once

#include <span>

#include "archive/database.h"
#include "base/locked_file.h"
#include "record/exchange.h"
#include "record/run.h"

namespace kw {

// One line of a listing.
struct RunSummary {
  RunRecord run;
  std::int64_t individuals = 0;
  std::int64_t passed = 0;
  double best_speedup = 0;  // over eager, as the search timed it; 0 when nothing was timed
};

// What a watcher looks at: it changes whenever something is added to the run.
struct RunState {
  std::string id;
  std::string state;
  std::string updated_at;
  std::int64_t individuals = 0;
  bool operator==(const RunState&) const = default;
};

// Entries of the ledger, or lessons, with the number to ask for the same ones again.
template <typename T>
struct Numbered {
  std::vector<T> items;
  std::int64_t limit = 0;
};

// Searches on sub-problems belong to the run that split its problem, and there may be dozens of them.
enum class SubProblems { with, without };

class RunArchive {
 public:
  explicit RunArchive(const Database& database) : database_(&database) {}

  // Gives it an id; its problem and its machine must have been put before.
  Result<RunRecord> start(const RunRecord& run);
  Result<std::optional<RunRecord>> find(std::string_view id) const;
  Result<std::vector<RunSummary>> list(int limit = 50, SubProblems parts = SubProblems::without) const;  // newest first
  // Searches on problems of this name, sub-problems too; oldest first.
  [[nodiscard]] Result<std::vector<RunRecord>> of_problem(std::string_view name) const;
  // Searches on the sub-problems of a run, in order.
  [[nodiscard]] Result<std::vector<RunRecord>> parts_of(std::string_view id) const;

  // All of a batch or none, with the time spent so far. An index that is there already is an error.
  Status add(const std::string& id, std::span<const Individual> individuals, double elapsed_seconds);
  Result<std::vector<Individual>> individuals(std::string_view id) const;  // in the order of their indices

  // The same from an index on, with empty sources: these are most of the bytes and seldom looked at.
  Result<std::vector<Individual>> outlines(std::string_view id, std::int64_t first = 0) const;
  Result<std::optional<Individual>> individual(std::string_view id, std::int64_t index) const;

  // For watching: a number that changes when another connection has written, and where all runs stand.
  Result<std::int64_t> data_version() const { return database_->query_integer("PRAGMA data_version"); }
  Result<std::vector<RunState>> states() const;

  // How it ended and what it taught, in one step. A run that had ended before is replaced with its entries and lessons, so
  // that ending a run twice teaches once.
  Status finish(const RunRecord& run, std::span<const LedgerEntry> entries, std::span<const Lesson> lessons);

  // Takes runs out with everything that only they have: kernels, exchanges, and what they taught the ledger and later runs.
  Status remove(std::span<const std::string> ids);
  // Unfinished runs, others than these, that began with what these had taught.
  [[nodiscard]] Result<std::vector<std::string>> unfinished_after(std::span<const std::string> ids) const;

  // What a model was asked during a run and what it answered; its id.
  Result<std::int64_t> add_exchange(std::string_view run_id, const Exchange& exchange);
  Result<std::vector<Exchange>> exchanges(std::string_view run_id) const;  // in the order in which they were added

  // Up to an earlier limit, or everything.
  Result<Numbered<LedgerEntry>> ledger(std::optional<std::int64_t> limit = std::nullopt) const;
  Result<Numbered<Lesson>> lessons(std::optional<std::int64_t> limit = std::nullopt) const;
  // What one run added to it; nothing while it goes on.
  Result<std::vector<LedgerEntry>> ledger_of(std::string_view run_id) const;

 private:
  template <typename T>
  Result<Numbered<T>> numbered(std::string_view table, std::optional<std::int64_t> limit) const;
  [[nodiscard]] Result<std::vector<RunRecord>> where(const std::string& field, std::string_view value) const;
  Result<RunRecord> read_run(const Statement& row) const;
  Result<std::vector<Individual>> read_individuals(Statement& query, std::string_view id) const;

  const Database* database_;
};

// One process at a time works on a run; the system frees the lock of one that has died.
class RunLock {
 public:
  static Result<RunLock> acquire(const fs::path& folder, const std::string& run_id);
  // For a run that is no more.
  void remove_file() const;

 private:
  RunLock(LockedFile file, fs::path path) : file_(std::move(file)), path_(std::move(path)) {}
  LockedFile file_;
  fs::path path_;
};

// Whether some process holds the run's lock. Looks without taking it, so that it never stands in the way of one that wants it.
bool is_under_way(const fs::path& folder, const std::string& run_id);

}  // namespace kw
