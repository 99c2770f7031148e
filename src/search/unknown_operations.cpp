#include "search/unknown_operations.h"

#include <fmt/format.h>

#include "base/shell.h"
#include "playbook/read.h"
#include "playbook/split.h"
#include "problem/simpler_graph.h"
#include "search/part_problem.h"

namespace kw {

ProblemDescription as_searched(const ProblemSource& source, OracleClient& oracle) {
  ProblemSource searched = source;
  simplify_graph(searched, oracle, unread_operations);
  return std::move(searched.description);
}

UnknownOperations unknown_operations_of(const ProblemDescription& problem,
                                        const std::function<bool(const ProblemDescription&)>& can_write) {
  UnknownOperations unknown{unread_operations(problem), {}};
  if (unknown.operations.empty()) return unknown;
  for (const Part& part : split_around(problem, unknown.operations).parts) {
    if (!can_write(part.problem)) continue;
    SearchablePiece piece{part.operations, part.places, {}};
    if (auto file = write_part_problem(part)) piece.file = std::move(*file);
    unknown.pieces.push_back(std::move(piece));
  }
  return unknown;
}

std::vector<std::string> piece_lines(const std::vector<SearchablePiece>& pieces, const std::string& more_options) {
  constexpr std::size_t kMost = 6;
  std::vector<std::string> lines;
  for (const SearchablePiece& piece : pieces) {
    const std::string places = piece.places > 1 ? fmt::format(" ({} places)", piece.places) : "";
    const std::string command =
        piece.file.empty() ? "" : fmt::format("kernelwright optimize {}{}  # ", shell_word(piece.file.string()), more_options);
    lines.push_back(command + piece.operations + places);
  }
  if (lines.size() > kMost + 1) {
    lines.resize(kMost);
    lines.push_back(fmt::format("and {} others", pieces.size() - kMost));
  }
  return lines;
}

Error with_pieces(Error error, const UnknownOperations& unknown, const RunOptions& options) {
  if (unknown.pieces.empty()) return error;
  std::string more = options.dsl == "cpp" ? "" : " --dsl " + options.dsl;
  if (!options.machine.empty()) more += " --machine " + shell_word(options.machine);
  error.hint += "; or search the pieces that are known:";
  for (const std::string& line : piece_lines(unknown.pieces, more)) error.hint += "\n       " + line;
  return error;
}

void to_json(Json& json, const SearchablePiece& piece) {
  json = {{"operations", piece.operations}, {"places", piece.places}, {"file", piece.file.string()}};
}

}  // namespace kw
