// The archive's schema as an ordered table of steps, and how a file is brought up to date. A step that has been
// released is never edited: a change of the schema is another row at the end.
#pragma once

#include <span>
#include <string_view>

#include "archive/database.h"

namespace kw {

struct Migration {
  std::string_view what;  // for errors
  std::string_view sql;
};

// Row n leads from version n to version n + 1; the file keeps its version in PRAGMA user_version.
std::span<const Migration> archive_migrations();

// Fails, without having written anything, for a file that is damaged, not an archive, or of a newer version.
Status check_is_archive(const Database& database, std::span<const Migration> migrations);

// Runs the missing steps, each in a transaction of its own: a step that fails leaves the version before it.
Status migrate(const Database& database, std::span<const Migration> migrations);

}  // namespace kw
