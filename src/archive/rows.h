// What every file that reads and writes the archive's tables needs: its clock, and a record out of a column of JSON.
#pragma once

#include <string>

#include "archive/database.h"
#include "archive/json_text.h"

// Every time in the archive is SQLite's clock, in UTC, to the millisecond. It is spliced into constant SQL only.
#define KW_NOW "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"

namespace kw {

// `what` names the row in the error.
template <typename Record>
Result<Record> read_record(const Statement& row, int column, const std::string& what) {
  KW_TRY(const Json json, json_from_archived_text(row.text(column), what));
  return read_fields(what, [&] { return json.get<Record>(); });
}

}  // namespace kw
