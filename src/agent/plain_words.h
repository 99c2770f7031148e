// A problem in plain words, for models that do not know PyTorch's names: what each operation computes, and where an element of a
// tensor is. Nothing here depends on the machine.
#pragma once

#include <map>
#include <string>

#include "record/problem.h"

namespace kw {

// By operation ("softmax"): knowledge/dsl/cpp/operations.json.
using OperationWords = std::map<std::string, std::string>;

// Whether every operation treats the rows along the last dimension alike, element by element or as a whole: then any number of
// dimensions is as good as two, and the words below speak of rows alone.
bool works_by_rows(const ProblemDescription& problem, const OperationWords& words);

// "sum_1 = sum of mul of each of the 300 rows of 777 elements -> [300]", a line an operation; at most this many.
std::string operations_in_words(const ProblemDescription& problem, const OperationWords& words, std::size_t most_lines);

// "b: read-only float32[80, 112] (8960 elements), b[i, j] is b[i * 112 + j]", a line a tensor.
std::string tensors_with_indices(const ProblemDescription& problem, bool by_rows);

}  // namespace kw
