#include "archive/runs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "archive/rows.h"

namespace kw {
namespace {

constexpr std::string_view kRunColumns = "SELECT id, record, created_at, updated_at FROM runs ";

Result<std::int64_t> run_number(std::string_view id) {
  std::int64_t number = 0;
  bool valid = !id.empty() && id.size() < 18;  // what a number holds
  for (const char c : id) {
    valid = valid && c >= '0' && c <= '9';
    if (valid) number = number * 10 + (c - '0');
  }
  if (!valid) return bad_input(fmt::format("'{}' is no run", id), "a run is a number: kernelwright runs lists them");
  return number;
}

std::string record_text(RunRecord run) {
  run.id.clear();
  run.created_at.clear();
  run.updated_at.clear();
  return archived_text(run);
}

}  // namespace

Result<RunRecord> RunArchive::start(const RunRecord& run) {
  KW_TRY(auto insert,
         database_->prepare("INSERT INTO runs (problem_hash, torch_version, machine_id, record, created_at, updated_at) "
                            "VALUES (?1, ?2, ?3, ?4, " KW_NOW ", " KW_NOW ")"));
  insert.bind(1, run.problem_hash).bind(2, run.torch_version).bind(3, run.machine_id).bind(4, record_text(run));
  KW_CHECK(insert.run());
  KW_TRY(auto kept, find(std::to_string(database_->last_insert_id())));
  if (!kept) return internal_error("a run that was just archived is not there");
  return std::move(*kept);
}

Result<RunRecord> RunArchive::read_run(const Statement& row) const {
  const std::string what = fmt::format("the archived run {} in {}", row.integer(0), database_->path().string());
  KW_TRY(RunRecord run, read_record<RunRecord>(row, 1, what));
  run.id = std::to_string(row.integer(0));
  run.created_at = row.text(2);
  run.updated_at = row.text(3);
  return run;
}

Result<std::optional<RunRecord>> RunArchive::find(std::string_view id) const {
  KW_TRY(const std::int64_t number, run_number(id));
  KW_TRY(auto query, database_->prepare(std::string(kRunColumns) + "WHERE id = ?1"));
  KW_TRY(const bool found, query.bind(1, number).step());
  if (!found) return std::optional<RunRecord>();
  KW_TRY(RunRecord run, read_run(query));
  return std::optional(std::move(run));
}

Result<std::vector<RunSummary>> RunArchive::list(int limit, SubProblems parts) const {
  KW_TRY(auto query,
         database_->prepare(
             "SELECT r.id, r.record, r.created_at, r.updated_at, count(i.run), coalesce(sum(i.verdict = 'passed'), 0), "
             "coalesce(max(json_extract(i.record, '$.speedup')), 0) FROM runs r LEFT JOIN individuals i ON i.run = r.id "
             "WHERE ?2 OR json_extract(r.record, '$.options.part_of') IS NULL GROUP BY r.id ORDER BY r.id DESC LIMIT ?1"));
  query.bind(1, std::int64_t{limit}).bind(2, std::int64_t{parts == SubProblems::with});
  std::vector<RunSummary> summaries;
  for (;;) {
    KW_TRY(const bool row, query.step());
    if (!row) return summaries;
    KW_TRY(RunRecord run, read_run(query));
    summaries.push_back({std::move(run), query.integer(4), query.integer(5), query.number(6).value_or(0)});
  }
}

Result<std::vector<RunRecord>> RunArchive::where(const std::string& field, std::string_view value) const {
  KW_TRY(auto query, database_->prepare(fmt::format("{}WHERE json_extract(record, '{}') = ?1 ORDER BY id", kRunColumns, field)));
  query.bind(1, value);
  std::vector<RunRecord> runs;
  for (;;) {
    KW_TRY(const bool row, query.step());
    if (!row) return runs;
    KW_TRY(RunRecord run, read_run(query));
    runs.push_back(std::move(run));
  }
}

Result<std::vector<RunRecord>> RunArchive::of_problem(std::string_view name) const { return where("$.problem_name", name); }
Result<std::vector<RunRecord>> RunArchive::parts_of(std::string_view id) const { return where("$.options.part_of", id); }

Status RunArchive::add(const std::string& id, std::span<const Individual> individuals, double elapsed_seconds) {
  KW_TRY(const std::int64_t number, run_number(id));
  KW_TRY(Transaction transaction, Transaction::begin(*database_));
  for (const Individual& individual : individuals) {
    KW_TRY(auto insert,
           database_->prepare("INSERT INTO individuals (run, position, verdict, record, created_at) VALUES (?1, ?2, ?3, "
                              "?4, " KW_NOW ")"));
    insert.bind(1, number).bind(2, individual.index).bind(3, name_of(individual.verdict)).bind(4, archived_text(individual));
    KW_CHECK(insert.run());
  }
  KW_TRY(auto update,
         database_->prepare("UPDATE runs SET record = json_set(record, '$.elapsed_seconds', json(?2)), updated_at = " KW_NOW
                            " WHERE id = ?1"));
  KW_CHECK(update.bind(1, number).bind(2, fmt::format("{:.3f}", elapsed_seconds)).run());
  if (database_->changed_rows() == 0) return internal_error(fmt::format("the archive has no run {}", id));
  return transaction.commit();
}

Result<std::vector<Individual>> RunArchive::individuals(std::string_view id) const {
  KW_TRY(const std::int64_t number, run_number(id));
  KW_TRY(auto query, database_->prepare("SELECT position, record FROM individuals WHERE run = ?1 ORDER BY position"));
  query.bind(1, number);
  return read_individuals(query, id);
}

Result<std::vector<Individual>> RunArchive::outlines(std::string_view id, std::int64_t first) const {
  KW_TRY(const std::int64_t number, run_number(id));
  KW_TRY(auto query, database_->prepare("SELECT position, json_set(record, '$.kernel.source', '') FROM individuals "
                                        "WHERE run = ?1 AND position >= ?2 ORDER BY position"));
  query.bind(1, number).bind(2, first);
  return read_individuals(query, id);
}

Result<std::optional<Individual>> RunArchive::individual(std::string_view id, std::int64_t index) const {
  KW_TRY(const std::int64_t number, run_number(id));
  KW_TRY(auto query, database_->prepare("SELECT position, record FROM individuals WHERE run = ?1 AND position = ?2"));
  query.bind(1, number).bind(2, index);
  KW_TRY(auto found, read_individuals(query, id));
  return found.empty() ? std::optional<Individual>() : std::optional(std::move(found.front()));
}

Result<std::vector<RunState>> RunArchive::states() const {
  KW_TRY(auto query, database_->prepare("SELECT r.id, json_extract(r.record, '$.state'), r.updated_at, "
                                        "(SELECT count(*) FROM individuals i WHERE i.run = r.id) FROM runs r ORDER BY r.id"));
  std::vector<RunState> states;
  for (;;) {
    KW_TRY(const bool row, query.step());
    if (!row) return states;
    states.push_back({std::to_string(query.integer(0)), query.text(1), query.text(2), query.integer(3)});
  }
}

Result<std::vector<Individual>> RunArchive::read_individuals(Statement& query, std::string_view id) const {
  std::vector<Individual> individuals;
  for (;;) {
    KW_TRY(const bool row, query.step());
    if (!row) return individuals;
    const std::string what = fmt::format("the archived individual {} of run {}", query.integer(0), id);
    KW_TRY(Individual individual, read_record<Individual>(query, 1, what));
    individuals.push_back(std::move(individual));
  }
}

Status RunArchive::finish(const RunRecord& run, std::span<const LedgerEntry> entries, std::span<const Lesson> lessons) {
  KW_TRY(const std::int64_t number, run_number(run.id));
  KW_TRY(Transaction transaction, Transaction::begin(*database_));
  KW_TRY(auto update, database_->prepare("UPDATE runs SET record = ?2, updated_at = " KW_NOW " WHERE id = ?1"));
  KW_CHECK(update.bind(1, number).bind(2, record_text(run)).run());
  if (database_->changed_rows() == 0) return internal_error(fmt::format("the archive has no run {}", run.id));
  for (const std::string_view table : {"ledger", "lessons"}) {
    KW_TRY(auto remove, database_->prepare(fmt::format("DELETE FROM {} WHERE run = ?1", table)));
    KW_CHECK(remove.bind(1, number).run());
  }
  const auto insert = [&](std::string_view table, const std::string& record) -> Status {
    KW_TRY(auto statement, database_->prepare(fmt::format("INSERT INTO {} (run, record) VALUES (?1, ?2)", table)));
    return statement.bind(1, number).bind(2, record).run();
  };
  for (const LedgerEntry& entry : entries) KW_CHECK(insert("ledger", archived_text(entry)));
  for (const Lesson& lesson : lessons) KW_CHECK(insert("lessons", archived_text(lesson)));
  return transaction.commit();
}

Status RunArchive::remove(std::span<const std::string> ids) {
  KW_TRY(Transaction transaction, Transaction::begin(*database_));
  for (const std::string& id : ids) {
    KW_TRY(const std::int64_t number, run_number(id));
    for (const std::string_view table : {"exchanges", "lessons", "ledger", "individuals"}) {
      KW_TRY(auto remove, database_->prepare(fmt::format("DELETE FROM {} WHERE run = ?1", table)));
      KW_CHECK(remove.bind(1, number).run());
    }
    KW_TRY(auto remove, database_->prepare("DELETE FROM runs WHERE id = ?1"));
    KW_CHECK(remove.bind(1, number).run());
    if (database_->changed_rows() == 0) return bad_input(fmt::format("there is no run {}", id), "kernelwright runs lists them");
  }
  return transaction.commit();
}

Result<std::vector<std::string>> RunArchive::unfinished_after(std::span<const std::string> ids) const {
  std::set<std::string> resting;
  for (const std::string& id : ids) {
    KW_TRY(const std::int64_t number, run_number(id));
    KW_TRY(auto query,
           database_->prepare(
               "SELECT r.id FROM runs r WHERE json_extract(r.record, '$.state') != 'done' AND ("
               "EXISTS (SELECT 1 FROM ledger l WHERE l.run = ?1 AND l.id <= json_extract(r.record, '$.ledger_limit')) OR "
               "EXISTS (SELECT 1 FROM lessons l WHERE l.run = ?1 AND l.id <= json_extract(r.record, '$.lesson_limit')))"));
    query.bind(1, number);
    for (;;) {
      KW_TRY(const bool row, query.step());
      if (!row) break;
      resting.insert(std::to_string(query.integer(0)));
    }
  }
  for (const std::string& id : ids) resting.erase(id);
  return std::vector(resting.begin(), resting.end());
}

Result<std::int64_t> RunArchive::add_exchange(std::string_view run_id, const Exchange& exchange) {
  KW_TRY(const std::int64_t number, run_number(run_id));
  Exchange kept = exchange;
  kept.id = 0;  // the row's own number is its id
  KW_TRY(auto insert,
         database_->prepare("INSERT INTO exchanges (run, purpose, record, created_at) VALUES (?1, ?2, ?3, " KW_NOW ")"));
  KW_CHECK(insert.bind(1, number).bind(2, exchange.purpose).bind(3, archived_text(kept)).run());
  return database_->last_insert_id();
}

Result<std::vector<Exchange>> RunArchive::exchanges(std::string_view run_id) const {
  KW_TRY(const std::int64_t number, run_number(run_id));
  KW_TRY(auto query, database_->prepare("SELECT id, record FROM exchanges WHERE run = ?1 ORDER BY id"));
  query.bind(1, number);
  std::vector<Exchange> exchanges;
  for (;;) {
    KW_TRY(const bool row, query.step());
    if (!row) return exchanges;
    const std::string what = fmt::format("the archived exchange {} of run {}", query.integer(0), run_id);
    KW_TRY(Exchange exchange, read_record<Exchange>(query, 1, what));
    exchange.id = query.integer(0);
    exchanges.push_back(std::move(exchange));
  }
}

template <typename T>
Result<Numbered<T>> RunArchive::numbered(std::string_view table, std::optional<std::int64_t> limit) const {
  KW_TRY(auto query, database_->prepare(fmt::format("SELECT id, record FROM {} WHERE id <= ?1 ORDER BY id", table)));
  query.bind(1, limit.value_or(INT64_MAX));
  Numbered<T> found;
  found.limit = limit.value_or(0);
  for (;;) {
    KW_TRY(const bool row, query.step());
    if (!row) return found;
    const std::string what = fmt::format("row {} of the archive's {}", query.integer(0), table);
    KW_TRY(T item, read_record<T>(query, 1, what));
    found.items.push_back(std::move(item));
    if (!limit) found.limit = query.integer(0);
  }
}

Result<Numbered<LedgerEntry>> RunArchive::ledger(std::optional<std::int64_t> limit) const {
  return numbered<LedgerEntry>("ledger", limit);
}

Result<Numbered<Lesson>> RunArchive::lessons(std::optional<std::int64_t> limit) const { return numbered<Lesson>("lessons", limit); }

Result<std::vector<LedgerEntry>> RunArchive::ledger_of(std::string_view run_id) const {
  KW_TRY(const std::int64_t number, run_number(run_id));
  KW_TRY(auto query, database_->prepare("SELECT id, record FROM ledger WHERE run = ?1 ORDER BY id"));
  query.bind(1, number);
  std::vector<LedgerEntry> entries;
  for (;;) {
    KW_TRY(const bool row, query.step());
    if (!row) return entries;
    KW_TRY(LedgerEntry entry, read_record<LedgerEntry>(query, 1, fmt::format("row {} of the archive's ledger", query.integer(0))));
    entries.push_back(std::move(entry));
  }
}

bool is_under_way(const fs::path& folder, const std::string& run_id) {
  struct stat file {};
  if (::stat((folder / ("run-" + run_id + ".lock")).c_str(), &file) != 0) return false;
  // "1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF": a lock is known by its file's device and inode.
  const std::string place = fmt::format("{:02x}:{:02x}:{}", major(file.st_dev), minor(file.st_dev), file.st_ino);
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, advisory, access, process, where;
    words >> number >> kind >> advisory >> access >> process >> where;
    if (kind == "FLOCK" && where == place) return true;
  }
  return false;
}

Result<RunLock> RunLock::acquire(const fs::path& folder, const std::string& run_id) {
  KW_CHECK(make_folders(folder));
  const fs::path file = folder / ("run-" + run_id + ".lock");
  LockedFile open(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (open.descriptor() < 0) return internal_error(fmt::format("{} cannot be opened: {}", file.string(), std::strerror(errno)));
  const int why_not = open.lock();
  if (why_not == EWOULDBLOCK)
    return bad_input(fmt::format("run {} is under way in another process", run_id), "wait for it, or stop it first");
  if (why_not != 0) return internal_error(fmt::format("{} cannot be locked: {}", file.string(), std::strerror(why_not)));
  return RunLock(std::move(open), file);
}

void RunLock::remove_file() const {
  std::error_code ignored;
  fs::remove(path_, ignored);
}

}  // namespace kw
