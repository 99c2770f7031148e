// A problem of many layers as sub-problems: its graph is cut where little is alive between two contractions, and sub-problems of
// the same operations, shapes and types are one part that stands at several places. It decides nothing about how a part is
// computed.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "record/problem.h"

namespace kw {

// A distinct sub-problem, with a description of its own: inputs x0, x1, ..., parameters p0, p1, ..., outputs out0, ...
struct Part {
  ProblemDescription problem;
  std::string hash;        // of operations, shapes and types: equal parts have equal hashes, in whatever problem they stand
  std::string operations;  // "conv2d, batch_norm, relu"
  int places = 0;
};

// What a place reads or writes: a tensor of the problem, or a value that lives between places.
struct Operand {
  std::string node;         // its name in the problem's graph
  std::string tensor;       // the problem's tensor that it is; empty: a value between places
  std::int64_t offset = 0;  // elements from its beginning: one step of a sequence is a place in memory, not an operation
};

// Where a part stands; operands in the order of the part's own inputs, parameters and outputs.
struct Place {
  std::size_t part = 0;
  std::vector<Operand> inputs, parameters, outputs;
};

struct Split {
  std::vector<Part> parts;
  std::vector<Place> places;  // in order; none: the problem is better left whole
  // Bytes of computed values that are alive at once at some operation, views apart: eager needs as much at the least.
  std::int64_t eager_bytes = 0;
};

// Fewer places than this are planned as one: a search over the whole sees all of them.
inline constexpr std::size_t kFewestPlaces = 4;

Split split_problem(const ProblemDescription& problem);
// What is left of a problem around operations of these names ("aten.linalg_svd.default"), in pieces; pieces that only look at
// tensors otherwise are left out.
Split split_around(const ProblemDescription& problem, const std::set<std::string>& operations);

// A value between places and where its memory begins. Two share memory where one is no longer read when the other is written.
struct PlacedValue {
  std::string node;
  DType dtype = DType::f32;
  std::int64_t bytes = 0;
  std::int64_t offset = 0;
};
struct BetweenPlaces {
  std::vector<PlacedValue> values;
  std::int64_t bytes = 0;  // of all
};
BetweenPlaces place_values(const Split& split);

}  // namespace kw
