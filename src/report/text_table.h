// A table for a terminal, and the few words that every table of runs needs.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "report/terminal.h"

namespace kw {

// 4.73x; - where nothing was timed.
std::string times(double speedup);

// Columns as wide as their widest cell; numbers to the right. Colour goes around a padded cell, so that it has no width.
class TextTable {
 public:
  TextTable(std::vector<std::string> titles, std::set<std::size_t> numbers)
      : titles_(std::move(titles)), numbers_(std::move(numbers)) {}
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  void paint_last(std::size_t column, bool good) { painted_[{rows_.size() - 1, column}] = good; }
  [[nodiscard]] std::string text(const Paint& paint) const;

 private:
  [[nodiscard]] std::string padded(const std::string& cell, std::size_t column, const std::vector<std::size_t>& widths) const;
  [[nodiscard]] std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const;

  std::vector<std::string> titles_;
  std::set<std::size_t> numbers_;
  std::vector<std::vector<std::string>> rows_;
  std::map<std::pair<std::size_t, std::size_t>, bool> painted_;
};

}  // namespace kw
