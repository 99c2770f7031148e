// A thin RAII layer over SQLite: a connection, a prepared statement, a transaction. It turns SQLite's codes into errors
// that name the file and say what to do; it knows nothing of the archive's tables.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace kw {

// One prepared statement. It must not outlive its database.
class Statement {
 public:
  // Parameters are numbered from 1, as in "?1". A failed bind is reported by the next step().
  Statement& bind(int parameter, std::string_view text);
  Statement& bind(int parameter, std::int64_t number);
  Statement& bind_null(int parameter);
  Statement& bind_optional(int parameter, const std::optional<std::string>& text);

  // True: a row is there to be read. False: done.
  Result<bool> step();
  // Steps to the end, passing over any rows.
  Status run();

  // Columns of the row that step() reached, numbered from 0.
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::optional<double> number(int column) const;  // none where the value is no number
  [[nodiscard]] bool is_null(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(const fs::path& path, sqlite3_stmt* statement) : path_(&path), statement_(statement) {}
  Statement& note(int code);

  const fs::path* path_;  // the database's, for errors
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bind_failure_ = 0;
};

// One connection. It belongs to one thread at a time, and must not be carried over a fork.
class Database {
 public:
  // Makes an empty file where there is none; reads and writes nothing else yet.
  static Result<Database> open(const fs::path& path);
  // A file that is there, never to be written through this connection.
  static Result<Database> open_to_read(const fs::path& path);

  // How long a statement waits for another process' write before it is an error.
  static constexpr std::chrono::seconds kBusyTimeout{30};

  Result<Statement> prepare(std::string_view sql) const;
  // Every statement of a text, one after the other. For schemas and pragmas, which take no values.
  Status execute(std::string_view script) const;
  // The first column of the first row as an integer.
  Result<std::int64_t> query_integer(std::string_view sql) const;
  // Write-ahead logging, where readers and one writer don't block each other; stays on in the file.
  Status use_write_ahead_log() const;

  [[nodiscard]] std::int64_t last_insert_id() const;
  [[nodiscard]] int changed_rows() const;
  [[nodiscard]] bool is_read_only() const;
  [[nodiscard]] const fs::path& path() const { return *path_; }

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  static Result<Database> connect(const fs::path& path, int flags);
  Database(const fs::path& path, sqlite3* connection) : path_(std::make_unique<fs::path>(path)), connection_(connection) {}

  std::unique_ptr<fs::path> path_;  // on the heap: statements point to it, and a Database may move
  std::unique_ptr<sqlite3, Close> connection_;
};

// What was not committed is undone.
class Transaction {
 public:
  // Holds the write lock from now on.
  static Result<Transaction> begin(const Database& database);
  // Everything read until its end is of one moment.
  static Result<Transaction> begin_reading(const Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  Status commit();

 private:
  explicit Transaction(const Database& database) : database_(&database) {}
  const Database* database_;  // null once committed or moved from
};

}  // namespace kw
