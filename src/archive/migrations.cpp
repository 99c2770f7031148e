#include "archive/migrations.h"

#include <array>

#include <fmt/format.h>

namespace kw {
namespace {

constexpr std::int64_t kApplicationId = 0x4b575231;  // "KWR1": tells our files from other SQLite files

constexpr std::string_view kFirstSchema = R"sql(
CREATE TABLE problems (
  source_hash   TEXT NOT NULL,
  torch_version TEXT NOT NULL,
  name          TEXT NOT NULL,
  file          TEXT NOT NULL,
  description   TEXT NOT NULL CHECK (json_valid(description)),
  first_seen    TEXT NOT NULL,
  PRIMARY KEY (source_hash, torch_version)
) STRICT;

CREATE TABLE machines (
  id         TEXT PRIMARY KEY NOT NULL,
  machine    TEXT NOT NULL CHECK (json_valid(machine)),
  first_seen TEXT NOT NULL
) STRICT;

CREATE TABLE evaluations (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  key            TEXT NOT NULL,
  problem_hash   TEXT NOT NULL,
  machine_id     TEXT NOT NULL REFERENCES machines (id),
  kernel_hash    TEXT NOT NULL,
  kernel_source  TEXT NOT NULL,
  kernel_file    TEXT NOT NULL,
  dsl            TEXT NOT NULL,
  knobs          TEXT NOT NULL CHECK (json_valid(knobs)),
  precision      TEXT NOT NULL,
  sandbox        TEXT NOT NULL,
  threads        INTEGER NOT NULL,
  versions       TEXT NOT NULL CHECK (json_valid(versions)),
  torch_version  TEXT NOT NULL GENERATED ALWAYS AS (json_extract(versions, '$.torch')) STORED,
  verdict        TEXT NOT NULL,
  verdict_record TEXT NOT NULL CHECK (json_valid(verdict_record)),
  timing         TEXT CHECK (timing IS NULL OR json_valid(timing)),
  created_at     TEXT NOT NULL,
  updated_at     TEXT NOT NULL,
  FOREIGN KEY (problem_hash, torch_version) REFERENCES problems (source_hash, torch_version)
) STRICT;

CREATE INDEX evaluations_by_key ON evaluations (key, id);
CREATE INDEX evaluations_by_problem ON evaluations (problem_hash, id);
)sql";

// Ledger and lessons are numbered for good (AUTOINCREMENT): a run knows what it began with by the highest number of then.
constexpr std::string_view kRunSchema = R"sql(
CREATE TABLE runs (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  problem_hash  TEXT NOT NULL,
  torch_version TEXT NOT NULL,
  machine_id    TEXT NOT NULL REFERENCES machines (id),
  record        TEXT NOT NULL CHECK (json_valid(record)),
  created_at    TEXT NOT NULL,
  updated_at    TEXT NOT NULL,
  FOREIGN KEY (problem_hash, torch_version) REFERENCES problems (source_hash, torch_version)
) STRICT;

CREATE TABLE individuals (
  run        INTEGER NOT NULL REFERENCES runs (id),
  position   INTEGER NOT NULL,
  verdict    TEXT NOT NULL,
  record     TEXT NOT NULL CHECK (json_valid(record)),
  created_at TEXT NOT NULL,
  PRIMARY KEY (run, position)
) STRICT;

CREATE TABLE ledger (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  run    INTEGER NOT NULL REFERENCES runs (id),
  record TEXT NOT NULL CHECK (json_valid(record))
) STRICT;

CREATE TABLE lessons (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  run    INTEGER NOT NULL REFERENCES runs (id),
  record TEXT NOT NULL CHECK (json_valid(record))
) STRICT;
)sql";

constexpr std::string_view kExchangeSchema = R"sql(
CREATE TABLE exchanges (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  run        INTEGER NOT NULL REFERENCES runs (id),
  purpose    TEXT NOT NULL,
  record     TEXT NOT NULL CHECK (json_valid(record)),
  created_at TEXT NOT NULL
) STRICT;

CREATE INDEX exchanges_by_run ON exchanges (run, id);
)sql";

constexpr std::string_view kEstimateSchema = R"sql(
ALTER TABLE evaluations ADD COLUMN estimate TEXT CHECK (estimate IS NULL OR json_valid(estimate));
)sql";

constexpr std::array<Migration, 4> kMigrations{{
    {"problems, machines and evaluations", kFirstSchema},
    {"runs, individuals, ledger and lessons", kRunSchema},
    {"exchanges with models", kExchangeSchema},
    {"estimates for GPUs that are not here", kEstimateSchema},
}};

}  // namespace

std::span<const Migration> archive_migrations() { return kMigrations; }

Status check_is_archive(const Database& database, std::span<const Migration> migrations) {
  const std::string file = database.path().string();
  // In one transaction: another process may be making the schema just now.
  KW_TRY(const auto reading, Transaction::begin_reading(database));
  KW_TRY(const auto version, database.query_integer("PRAGMA user_version"));
  KW_TRY(const auto application, database.query_integer("PRAGMA application_id"));
  KW_TRY(const auto objects, database.query_integer("SELECT count(*) FROM sqlite_schema"));
  const bool is_empty = version == 0 && application == 0 && objects == 0;
  if (!is_empty && application != kApplicationId)
    return bad_input(fmt::format("{} is a SQLite file of another program", file),
                     "name another file for the archive; this one was left as it is");
  if (version < 0 || version > static_cast<std::int64_t>(migrations.size()))
    return bad_input(fmt::format("the archive {} has schema version {}; this kernelwright knows versions up to {}", file, version,
                                 migrations.size()),
                     "it was written by a newer kernelwright: use that one, or set KERNELWRIGHT_HOME to another folder; the file "
                     "was left as it is");
  return {};
}

Status migrate(const Database& database, std::span<const Migration> migrations) {
  for (;;) {
    // Looked at first without the write lock, for the usual case that there is nothing to do.
    KW_TRY(const auto seen, database.query_integer("PRAGMA user_version"));
    if (seen >= static_cast<std::int64_t>(migrations.size())) return {};
    KW_TRY(auto transaction, Transaction::begin(database));
    // Another process may have taken this step while we waited for the lock.
    KW_TRY(const auto version, database.query_integer("PRAGMA user_version"));
    if (version >= static_cast<std::int64_t>(migrations.size())) return {};
    const Migration& step = migrations[static_cast<std::size_t>(version)];
    // Pragmas take no parameters; both values are ours.
    const std::string script =
        fmt::format("{}; PRAGMA application_id = {}; PRAGMA user_version = {};", step.sql, kApplicationId, version + 1);
    if (auto done = database.execute(script); !done) {
      Error error = std::move(done.error());
      error.message =
          fmt::format("{}; while bringing it from schema version {} to {} ({})", error.message, version, version + 1, step.what);
      return error;
    }
    KW_CHECK(transaction.commit());
  }
}

}  // namespace kw
