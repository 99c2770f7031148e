// What a playbook does not know of a problem, and what can be searched all the same: pieces of it, as problems of their own.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/files.h"
#include "problem/problem_source.h"
#include "record/run.h"

namespace kw {

struct SearchablePiece {
  std::string operations;  // "linear, relu"
  int places = 0;
  fs::path file;  // a problem in KernelBench's form; empty: it could not be written
};

struct UnknownOperations {
  std::set<std::string> operations;  // "aten.linalg_svd.default"; none: the playbook knows all
  std::vector<SearchablePiece> pieces;
};

// With its operations taken apart, as far as that makes them known: as a search has it.
ProblemDescription as_searched(const ProblemSource& source, OracleClient& oracle);

// `can_write`: whether there is a coder for a piece.
UnknownOperations unknown_operations_of(const ProblemDescription& problem,
                                        const std::function<bool(const ProblemDescription&)>& can_write);

// The commands that search the pieces, a line each; empty: there are none.
std::vector<std::string> piece_lines(const std::vector<SearchablePiece>& pieces, const std::string& more_options);

// The error with these commands in its hint.
Error with_pieces(Error error, const UnknownOperations& unknown, const RunOptions& options);

void to_json(Json& json, const SearchablePiece& piece);

}  // namespace kw
