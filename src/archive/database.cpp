#include "archive/database.h"

#include <sqlite3.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <thread>

#include <fmt/format.h>

#include "archive/owner_only.h"

namespace kw {
namespace {

// SQLite reports some full disks as I/O errors (its shared-memory file is one), so the disk is asked as well.
bool disk_is_full(const fs::path& path) {
  struct statvfs disk {};
  if (::statvfs(path.parent_path().c_str(), &disk) != 0) return false;
  return static_cast<unsigned long long>(disk.f_bavail) * disk.f_frsize < 65536;
}

Error describe(int code, const std::string& detail, const fs::path& path) {
  const std::string file = path.string();
  const int primary = code & 0xff;
  if (primary == SQLITE_FULL || (primary == SQLITE_IOERR && disk_is_full(path)))
    return internal_error(fmt::format("no space left to write the archive {} ({})", file, detail),
                          "free some disk space, or set KERNELWRIGHT_HOME to a folder on another disk; "
                          "what was archived before is intact");
  switch (primary) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return bad_input(fmt::format("the archive {} is damaged or is no SQLite file ({})", file, detail),
                       fmt::format("it was left as it is; move it away (mv '{0}' '{0}.damaged') to begin an empty archive, or save "
                                   "what can be read with: sqlite3 '{0}' .recover",
                                   file));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return internal_error(fmt::format("another process kept the archive {} locked for more than {} seconds ({})", file,
                                        Database::kBusyTimeout.count(), detail),
                            fmt::format("find it with: fuser -v '{}'; then try again", file));
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return internal_error(
          fmt::format("cannot write the archive {} ({})", file, detail),
          "check the permissions of the file and of its folder, or set KERNELWRIGHT_HOME to a folder that you can "
          "write");
    case SQLITE_IOERR:
      return internal_error(fmt::format("reading or writing the archive {} failed ({})", file, detail),
                            "check the disk (dmesg, df -h), or set KERNELWRIGHT_HOME to a folder on another one");
    case SQLITE_CONSTRAINT:
      return internal_error(fmt::format("the archive {} refused a record ({})", file, detail));
    default:
      return internal_error(fmt::format("the archive {}: {}", file, detail));
  }
}

Error describe(sqlite3* connection, int code, const fs::path& path) {
  const int system_error = sqlite3_system_errno(connection);
  std::string detail = sqlite3_errmsg(connection);
  if ((code & 0xff) == SQLITE_CANTOPEN && system_error != 0)
    detail += fmt::format(": {}", std::generic_category().message(system_error));
  return describe(code, detail, path);
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement& Statement::note(int code) {
  if (code != SQLITE_OK && bind_failure_ == SQLITE_OK) bind_failure_ = code;
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
  // A null pointer would bind NULL, and an empty view may hold one.
  return note(sqlite3_bind_text64(statement_.get(), parameter, text.empty() ? "" : text.data(), text.size(), SQLITE_TRANSIENT,
                                  SQLITE_UTF8));
}
Statement& Statement::bind(int parameter, std::int64_t number) {
  return note(sqlite3_bind_int64(statement_.get(), parameter, number));
}
Statement& Statement::bind_null(int parameter) { return note(sqlite3_bind_null(statement_.get(), parameter)); }
Statement& Statement::bind_optional(int parameter, const std::optional<std::string>& text) {
  return text ? bind(parameter, std::string_view(*text)) : bind_null(parameter);
}

Result<bool> Statement::step() {
  if (bind_failure_ != SQLITE_OK) return describe(bind_failure_, sqlite3_errstr(bind_failure_), *path_);
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  Error error = describe(sqlite3_db_handle(statement_.get()), code, *path_);
  sqlite3_reset(statement_.get());  // gives its locks back
  return error;
}

Status Statement::run() {
  for (;;) {
    KW_TRY(const bool row, step());
    if (!row) return {};
  }
}

std::string Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  return data ? std::string(data, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))) : std::string();
}
std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
std::optional<double> Statement::number(int column) const {
  const int type = sqlite3_column_type(statement_.get(), column);
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return std::nullopt;
  return sqlite3_column_double(statement_.get(), column);
}
bool Statement::is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }

void Database::Close::operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }

Result<Database> Database::open(const fs::path& path) {
  std::error_code code;
  if (fs::is_directory(path, code))
    return bad_input(fmt::format("the archive {} is a folder, not a file", path.string()), "name a file");
  // SQLite would try to open it for reading and report that instead.
  if (!fs::exists(path, code) && ::access(path.parent_path().c_str(), W_OK) != 0)
    return internal_error(fmt::format("cannot write the archive {} ({})", path.string(), std::generic_category().message(errno)),
                          "check the permissions of its folder, or set KERNELWRIGHT_HOME to a folder that you can write");
  make_own_file(path);
  return connect(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
}

Result<Database> Database::open_to_read(const fs::path& path) { return connect(path, SQLITE_OPEN_READONLY); }

Result<Database> Database::connect(const fs::path& path, int flags) {
  sqlite3* connection = nullptr;
  const int outcome = sqlite3_open_v2(path.c_str(), &connection, flags, nullptr);
  Database database(path, connection);  // SQLite gives a connection to close even when it failed
  if (!connection) return internal_error(fmt::format("cannot open the archive {}: out of memory", path.string()));
  if (outcome != SQLITE_OK) return describe(connection, outcome, path);
  sqlite3_extended_result_codes(connection, 1);
  sqlite3_busy_timeout(connection, static_cast<int>(std::chrono::milliseconds(kBusyTimeout).count()));
  return database;
}

Result<Statement> Database::prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(connection_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return describe(connection_.get(), code, path());
  return Statement(path(), statement);
}

Status Database::execute(std::string_view script) const {
  const char* rest = script.data();
  const char* const end = script.data() + script.size();
  while (rest < end) {
    sqlite3_stmt* prepared = nullptr;
    const int code = sqlite3_prepare_v2(connection_.get(), rest, static_cast<int>(end - rest), &prepared, &rest);
    if (code != SQLITE_OK) return describe(connection_.get(), code, path());
    if (!prepared) continue;  // white space or a comment
    KW_CHECK(Statement(path(), prepared).run());
  }
  return {};
}

Result<std::int64_t> Database::query_integer(std::string_view sql) const {
  KW_TRY(auto statement, prepare(sql));
  KW_TRY(const bool row, statement.step());
  if (!row) return internal_error(fmt::format("the archive {}: no answer to '{}'", path().string(), sql));
  return statement.integer(0);
}

Status Database::use_write_ahead_log() const {
  // SQLite does not wait here as it does elsewhere: when several processes open a new file at once, all but one are
  // told at once that it is busy.
  const auto deadline = std::chrono::steady_clock::now() + kBusyTimeout;
  for (;;) {
    sqlite3_stmt* prepared = nullptr;
    int code = sqlite3_prepare_v2(connection_.get(), "PRAGMA journal_mode = WAL", -1, &prepared, nullptr);
    const Statement statement(path(), prepared);
    if (code == SQLITE_OK) code = sqlite3_step(prepared);
    // On a file system without shared memory SQLite answers with another mode, which is as safe and only slower.
    if (code == SQLITE_ROW || code == SQLITE_DONE) return {};
    if ((code & 0xff) != SQLITE_BUSY || std::chrono::steady_clock::now() > deadline)
      return describe(connection_.get(), code, path());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

std::int64_t Database::last_insert_id() const { return sqlite3_last_insert_rowid(connection_.get()); }
int Database::changed_rows() const { return sqlite3_changes(connection_.get()); }
bool Database::is_read_only() const { return sqlite3_db_readonly(connection_.get(), "main") == 1; }

Result<Transaction> Transaction::begin(const Database& database) {
  KW_CHECK(database.execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Result<Transaction> Transaction::begin_reading(const Database& database) {
  KW_CHECK(database.execute("BEGIN"));
  return Transaction(database);
}

Status Transaction::commit() {
  KW_CHECK(database_->execute("COMMIT"));
  database_ = nullptr;
  return {};
}

Transaction::~Transaction() {
  if (database_) (void)database_->execute("ROLLBACK").ok();
}

}  // namespace kw
