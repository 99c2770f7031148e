#include "report/text_table.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw {
namespace {

std::string without_end(std::string text) {
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

}  // namespace

std::string times(double speedup) { return speedup > 0 ? fmt::format("{:.2f}x", speedup) : "-"; }

std::string TextTable::text(const Paint& paint) const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < titles_.size(); ++c) {
    widths.push_back(titles_[c].size());
    for (const auto& row : rows_) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string all = paint.faint(line(titles_, widths)) + "\n";
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    std::vector<std::string> cells;
    for (std::size_t c = 0; c < titles_.size(); ++c) {
      std::string cell = padded(rows_[r][c], c, widths);
      if (const auto colour = painted_.find({r, c}); colour != painted_.end())
        cell = colour->second ? paint.good(cell) : paint.bad(cell);
      cells.push_back(std::move(cell));
    }
    all += without_end(fmt::format("{}", fmt::join(cells, "  "))) + "\n";
  }
  return all;
}

std::string TextTable::padded(const std::string& cell, std::size_t column, const std::vector<std::size_t>& widths) const {
  return numbers_.contains(column) ? fmt::format("{:>{}}", cell, widths[column]) : fmt::format("{:<{}}", cell, widths[column]);
}

std::string TextTable::line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const {
  std::vector<std::string> all;
  for (std::size_t c = 0; c < cells.size(); ++c) all.push_back(padded(cells[c], c, widths));
  return without_end(fmt::format("{}", fmt::join(all, "  ")));
}

}  // namespace kw
