#include "archive/archive.h"

#include <fmt/format.h>

#include "archive/migrations.h"
#include "archive/owner_only.h"
#include "archive/rows.h"

namespace kw {
namespace {

Error missing_references(Error error, const EvaluationKey& key) {
  error.message += fmt::format("; an evaluation needs its problem ({}, PyTorch {}) and its machine ({}) in the archive first",
                               key.problem_hash, key.torch_version, key.machine_id);
  return error;
}

constexpr std::string_view kEvaluationColumns =
    "SELECT id, kernel_hash, knobs, dsl, problem_hash, machine_id, versions, precision, sandbox, threads, kernel_source, "
    "kernel_file, verdict_record, timing, created_at, updated_at, estimate FROM evaluations ";

constexpr std::string_view kSummaryColumns =
    "SELECT e.id, e.key, e.problem_hash, p.name, e.machine_id, e.kernel_hash, e.kernel_file, e.dsl, e.precision, e.knobs, "
    "e.verdict, json_extract(e.timing, '$.seconds'), json_extract(e.timing, '$.comparisons[0].speedup'), e.created_at "
    "FROM evaluations e JOIN problems p ON p.source_hash = e.problem_hash AND p.torch_version = e.torch_version ";

}  // namespace

fs::path Archive::default_path() { return data_home() / "archive.db"; }

Result<Archive> Archive::open(const fs::path& path) {
  const fs::path full = fs::absolute(path);
  KW_CHECK(make_own_folder(full.parent_path()));
  KW_TRY(auto database, Database::open(full));
  // Until the file is known to be an archive of ours, nothing is written.
  KW_CHECK(check_is_archive(database, archive_migrations()));
  if (database.is_read_only())
    return internal_error(
        fmt::format("the archive {} cannot be written: it is read-only", full.string()),
        "check the permissions of the file and of its folder, or set KERNELWRIGHT_HOME to a folder that you can write");
  close_to_others(full);
  KW_CHECK(database.use_write_ahead_log());
  // FULL: an answer that was given is on the disk. An evaluation takes seconds; a sync does not matter.
  KW_CHECK(database.execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON;"));
  KW_CHECK(migrate(database, archive_migrations()));
  return Archive(std::move(database));
}

Result<Archive> Archive::open_to_read(const fs::path& path) {
  const fs::path full = fs::absolute(path);
  std::error_code code;
  if (!fs::exists(full, code))
    return bad_input(fmt::format("there is no archive {}", full.string()),
                     "kernelwright optimize PROBLEM begins one; KERNELWRIGHT_HOME names its folder");
  KW_TRY(auto database, Database::open_to_read(full));
  KW_CHECK(check_is_archive(database, archive_migrations()));
  close_to_others(full);
  KW_TRY(const auto version, database.query_integer("PRAGMA user_version"));
  if (version < static_cast<std::int64_t>(archive_migrations().size()))
    return bad_input(fmt::format("the archive {} has the older schema version {}", full.string(), version),
                     "kernelwright runs brings it up to date");
  return Archive(std::move(database));
}

void Archive::compact() { (void)database_.execute("PRAGMA busy_timeout = 0; VACUUM;").ok(); }

Status Archive::put_problem(const ProblemDescription& problem) {
  KW_TRY(auto insert,
         database_.prepare("INSERT INTO problems (source_hash, torch_version, name, file, description, first_seen) "
                           "VALUES (?1, ?2, ?3, ?4, ?5, " KW_NOW ") ON CONFLICT (source_hash, torch_version) DO UPDATE "
                           "SET name = excluded.name, file = excluded.file, description = excluded.description"));
  insert.bind(1, problem.source_hash).bind(2, problem.torch_version).bind(3, problem.name).bind(4, problem.file);
  return insert.bind(5, archived_text(problem)).run();
}

Result<std::optional<ProblemDescription>> Archive::find_problem(std::string_view source_hash, std::string_view torch_version) {
  KW_TRY(auto query, database_.prepare("SELECT description FROM problems WHERE source_hash = ?1 AND torch_version = ?2"));
  KW_TRY(const bool found, query.bind(1, source_hash).bind(2, torch_version).step());
  if (!found) return std::optional<ProblemDescription>();
  KW_TRY(auto problem, read_record<ProblemDescription>(
                           query, 0, fmt::format("the archived problem {} in {}", source_hash, database_.path().string())));
  return std::optional(std::move(problem));
}

Status Archive::put_machine(const Machine& machine) {
  KW_TRY(auto insert, database_.prepare("INSERT INTO machines (id, machine, first_seen) VALUES (?1, ?2, " KW_NOW ") "
                                        "ON CONFLICT (id) DO UPDATE SET machine = excluded.machine"));
  return insert.bind(1, machine.id).bind(2, archived_text(machine)).run();
}

Result<std::optional<Machine>> Archive::find_machine(std::string_view id) {
  KW_TRY(auto query, database_.prepare("SELECT machine FROM machines WHERE id = ?1"));
  KW_TRY(const bool found, query.bind(1, id).step());
  if (!found) return std::optional<Machine>();
  KW_TRY(auto machine, read_record<Machine>(query, 0, fmt::format("the archived machine {} in {}", id, database_.path().string())));
  return std::optional(std::move(machine));
}

Result<std::int64_t> Archive::put_evaluation(const Evaluation& evaluation) {
  const EvaluationKey& key = evaluation.key;
  KW_TRY(auto insert,
         database_.prepare("INSERT INTO evaluations (key, problem_hash, machine_id, kernel_hash, kernel_source, kernel_file, dsl, "
                           "knobs, precision, sandbox, threads, versions, verdict, verdict_record, timing, created_at, updated_at) "
                           "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, " KW_NOW ", " KW_NOW ")"));
  const Json versions{{"compiler", key.compiler},
                      {"flags", key.flags},
                      {"torch", key.torch_version},
                      {"evaluator", key.evaluator_version},
                      {"conditions", key.conditions}};
  std::optional<std::string> timing;
  if (evaluation.timing) timing = archived_text(*evaluation.timing);
  insert.bind(1, key.key()).bind(2, key.problem_hash).bind(3, key.machine_id).bind(4, key.kernel_hash);
  insert.bind(5, evaluation.kernel_source).bind(6, evaluation.kernel_file).bind(7, key.dsl).bind(8, archived_text(key.knobs));
  insert.bind(9, key.precision).bind(10, key.sandbox).bind(11, std::int64_t{key.threads}).bind(12, archived_text(versions));
  insert.bind(13, name_of(evaluation.verdict.verdict)).bind(14, archived_text(evaluation.verdict)).bind_optional(15, timing);
  if (auto done = insert.run(); !done) {
    Error error = std::move(done.error());
    return error.message.find("FOREIGN KEY") == std::string::npos ? error : missing_references(std::move(error), key);
  }
  return database_.last_insert_id();
}

Status Archive::put_timing(std::int64_t id, const TimingRecord& timing) {
  return put_column("UPDATE evaluations SET timing = ?2, updated_at = " KW_NOW " WHERE id = ?1", id, archived_text(timing));
}

Status Archive::put_estimate(std::int64_t id, const EstimateRecord& estimate) {
  return put_column("UPDATE evaluations SET estimate = ?2, updated_at = " KW_NOW " WHERE id = ?1", id, archived_text(estimate));
}

Status Archive::put_column(const char* sql, std::int64_t id, const std::string& text) {
  KW_TRY(auto update, database_.prepare(sql));
  KW_CHECK(update.bind(1, id).bind(2, text).run());
  if (database_.changed_rows() == 0)
    return bad_input(fmt::format("the archive {} has no evaluation {}", database_.path().string(), id),
                     "list the evaluations to see their ids");
  return {};
}

Result<std::optional<Evaluation>> Archive::find_evaluation(std::string_view key) {
  KW_TRY(auto query, database_.prepare(std::string(kEvaluationColumns) + "WHERE key = ?1 ORDER BY id DESC LIMIT 1"));
  query.bind(1, key);
  return read_evaluation(query);
}

Result<std::optional<Evaluation>> Archive::get_evaluation(std::int64_t id) {
  KW_TRY(auto query, database_.prepare(std::string(kEvaluationColumns) + "WHERE id = ?1"));
  query.bind(1, id);
  return read_evaluation(query);
}

Result<std::optional<Evaluation>> Archive::find_measured(std::string_view problem_hash, std::string_view kernel_hash,
                                                         const KnobValues& knobs) {
  KW_TRY(auto query,
         database_.prepare(
             std::string(kEvaluationColumns) +
             "WHERE problem_hash = ?1 AND kernel_hash = ?2 AND knobs = ?3 AND (timing IS NOT NULL OR estimate IS NOT NULL) "
             "ORDER BY id DESC LIMIT 1"));
  query.bind(1, problem_hash).bind(2, kernel_hash).bind(3, archived_text(knobs));
  return read_evaluation(query);
}

Result<std::optional<Evaluation>> Archive::read_evaluation(Statement& query) {
  KW_TRY(const bool found, query.step());
  if (!found) return std::optional<Evaluation>();
  Evaluation evaluation;
  EvaluationKey& key = evaluation.key;
  evaluation.id = query.integer(0);
  const std::string what = fmt::format("the archived evaluation {} in {}", evaluation.id, database_.path().string());
  key.kernel_hash = query.text(1);
  KW_TRY(key.knobs, read_record<KnobValues>(query, 2, what));
  key.dsl = query.text(3);
  key.problem_hash = query.text(4);
  key.machine_id = query.text(5);
  KW_TRY(const auto versions, read_record<Json>(query, 6, what));
  KW_CHECK(read_fields(what, [&] {
    versions.at("compiler").get_to(key.compiler);
    versions.at("flags").get_to(key.flags);
    versions.at("torch").get_to(key.torch_version);
    versions.at("evaluator").get_to(key.evaluator_version);
    if (versions.contains("conditions")) versions.at("conditions").get_to(key.conditions);
    return true;
  }));
  key.precision = query.text(7);
  key.sandbox = query.text(8);
  key.threads = static_cast<int>(query.integer(9));
  evaluation.kernel_source = query.text(10);
  evaluation.kernel_file = query.text(11);
  KW_TRY(evaluation.verdict, read_record<VerdictRecord>(query, 12, what));
  if (!query.is_null(13)) {
    KW_TRY(evaluation.timing, read_record<TimingRecord>(query, 13, what));
  }
  evaluation.created_at = query.text(14);
  evaluation.updated_at = query.text(15);
  if (!query.is_null(16)) {
    KW_TRY(evaluation.estimate, read_record<EstimateRecord>(query, 16, what));
  }
  return std::optional(std::move(evaluation));
}

Result<std::vector<EvaluationSummary>> Archive::list(const std::optional<std::string>& problem_hash, int limit) {
  if (limit < 1) return bad_input(fmt::format("a listing's limit must be at least 1, not {}", limit));
  // Two texts rather than "?1 IS NULL OR ...", which would keep SQLite from using the index on problems.
  const std::string_view which = problem_hash ? "WHERE e.problem_hash = ?1 " : "WHERE ?1 IS NULL ";
  KW_TRY(auto query, database_.prepare(fmt::format("{}{}ORDER BY e.id DESC LIMIT ?2", kSummaryColumns, which)));
  query.bind_optional(1, problem_hash).bind(2, std::int64_t{limit});
  std::vector<EvaluationSummary> summaries;
  for (;;) {
    KW_TRY(const bool row, query.step());
    if (!row) return summaries;
    EvaluationSummary& summary = summaries.emplace_back();
    summary.id = query.integer(0);
    summary.key = query.text(1);
    summary.problem_hash = query.text(2);
    summary.problem_name = query.text(3);
    summary.machine_id = query.text(4);
    summary.kernel_hash = query.text(5);
    summary.kernel_file = query.text(6);
    summary.dsl = query.text(7);
    summary.precision = query.text(8);
    const std::string what = fmt::format("the archived evaluation {} in {}", summary.id, database_.path().string());
    KW_TRY(summary.knobs, read_record<KnobValues>(query, 9, what));
    KW_TRY(summary.verdict, verdict_from_name(query.text(10)));
    summary.seconds = query.number(11);
    summary.speedup = query.number(12);
    summary.created_at = query.text(13);
  }
}

}  // namespace kw
