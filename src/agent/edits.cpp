#include "agent/edits.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/cpp_shape.h"

namespace kw {
namespace {

constexpr std::size_t kMostEdits = 20;

std::string without_ends(std::string line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.pop_back();
  return line;
}

// "  12| text" -> "text", where every line has a number.
std::string without_line_numbers(const std::string& text) {
  std::string out;
  for (const std::string& line : lines_of(text)) {
    const std::size_t digit = line.find_first_not_of(' ');
    std::size_t bar = digit;
    while (bar != std::string::npos && bar < line.size() && line[bar] >= '0' && line[bar] <= '9') ++bar;
    if (bar == std::string::npos || bar == digit || bar >= line.size() || line[bar] != '|') return text;
    const std::size_t rest = bar + 1 + (bar + 1 < line.size() && line[bar + 1] == ' ' ? 1 : 0);
    out += (out.empty() ? "" : "\n") + line.substr(std::min(rest, line.size()));
  }
  return out;
}

std::vector<std::size_t> places_of(const std::string& text, const std::string& part) {
  std::vector<std::size_t> places;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) places.push_back(at);
  return places;
}

struct LineSpan {
  std::size_t first = 0, count = 0;
};

// Whole lines that are the same but for blanks at their ends.
std::vector<LineSpan> line_places(const std::vector<std::string>& lines, const std::vector<std::string>& wanted) {
  std::vector<LineSpan> places;
  if (wanted.empty() || wanted.size() > lines.size()) return places;
  for (std::size_t first = 0; first + wanted.size() <= lines.size(); ++first) {
    bool same = true;
    for (std::size_t i = 0; same && i < wanted.size(); ++i) same = without_ends(lines[first + i]) == without_ends(wanted[i]);
    if (same) places.push_back({first, wanted.size()});
  }
  return places;
}

std::string shown(const std::string& text) {
  const std::string first = text.substr(0, text.find('\n'));
  return first.size() <= 60 && first.size() == text.size() ? first : first.substr(0, 60) + " ...";
}

std::optional<Fault> apply_edit(std::string& source, const Edit& edit, std::size_t number) {
  std::string find = without_line_numbers(edit.find), replace = without_line_numbers(edit.replace);
  if (find.find_first_not_of(" \t\n") == std::string::npos)
    return Fault{AnswerFault::wrong_record, fmt::format("edits[{}].find is empty: copy the lines to replace", number)};
  const auto places = places_of(source, find);
  const auto ambiguous = [&](std::size_t count) {
    return Fault{AnswerFault::ambiguous_edit,
                 fmt::format("edits[{}].find occurs {} times (\"{}\"): copy more lines around it", number, count, shown(find))};
  };
  if (places.size() > 1) return ambiguous(places.size());
  if (places.size() == 1) {
    source.replace(places.front(), find.size(), replace);
    return std::nullopt;
  }
  std::vector<std::string> lines = lines_of(source);
  const auto spans = line_places(lines, lines_of(find));
  if (spans.size() > 1) return ambiguous(spans.size());
  if (spans.empty())
    return Fault{
        AnswerFault::absent_edit,
        fmt::format("edits[{}].find is not in the source (\"{}\"): copy it exactly, blanks included", number, shown(find))};
  const auto begin = lines.begin() + static_cast<std::ptrdiff_t>(spans.front().first);
  const auto put = lines.erase(begin, begin + static_cast<std::ptrdiff_t>(spans.front().count));
  const auto added = lines_of(replace);
  lines.insert(put, added.begin(), added.end());
  source.clear();
  for (const std::string& line : lines) source += line + "\n";
  return std::nullopt;
}

}  // namespace

Patched apply_edits(const std::string& source, const std::vector<Edit>& edits) {
  Patched patched{source, std::nullopt};
  if (edits.empty()) patched.fault = {AnswerFault::no_change, "the patch has no edits"};
  if (edits.size() > kMostEdits)
    patched.fault = {AnswerFault::wrong_record, fmt::format("the patch has {} edits: make the smallest fix", edits.size())};
  for (std::size_t i = 0; i < edits.size() && !patched.fault; ++i) patched.fault = apply_edit(patched.source, edits[i], i);
  if (!patched.fault && patched.source == source) patched.fault = {AnswerFault::no_change, "the edits leave the source as it was"};
  if (patched.fault) patched.source = source;
  return patched;
}

}  // namespace kw
