// A suite as text: the table with its totals for a terminal, and comma-separated values for a spreadsheet.
#pragma once

#include <string>

#include "record/suite.h"
#include "report/terminal.h"

namespace kw {

// The table is no wider than `width`, as far as names can be cut and columns left out; 0: as wide as it is.
std::string suite_text(const SuiteRecord& suite, const Paint& paint, std::size_t width = 0);
// One problem that is done, in a line.
std::string suite_line(const SuiteRow& row, const Paint& paint);
std::string suite_csv(const SuiteRecord& suite);

}  // namespace kw
