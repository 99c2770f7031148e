// Pointwise stages: every element of the roots from the elements at its own position, in one pass.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/loops.h"

namespace kw {
namespace {

constexpr std::int64_t kFlatChunk = 16384;  // elements of one piece of work

std::string flat_why_not(const StageWriter& writer, const Stage& stage) {
  if (stage.anchor >= 0) return "it has an anchor";
  if (stage.has_reductions) return "it has reductions";
  if (!writer.wants("explicit_vectors") && !writer.wants("parallel_outer")) return "neither vectors nor threads are wanted";
  return "";
}

std::vector<int> dims_from(int first, std::size_t rank) {
  std::vector<int> dims;
  for (int d = first; d < static_cast<int>(rank); ++d) dims.push_back(d);
  return dims;
}

// Everything as one dimension, in chunks.
void write_chunks(StageWriter& writer, const Stage& stage, const Shape& shape) {
  Emitter& e = writer.emitter;
  const std::int64_t count = numel(shape);
  std::vector<Target> targets;
  for (const ValueId root : stage.roots) targets.push_back({root, root, Index(shape.size())});
  const std::int64_t chunks = (count + kFlatChunk - 1) / kFlatChunk;
  const std::string pragma = writer.parallel_pragma(chunks, count, true);
  std::string begin = "0";
  std::string end = fmt::format("{}", count);
  if (!pragma.empty()) {
    begin = e.unique("begin");
    e.open(fmt::format("{0}\nfor (std::int64_t {1} = 0; {1} < {2}; {1} += {3}) {{", pragma, begin, count, kFlatChunk));
    if (count % kFlatChunk == 0) {
      end = fmt::format("{} + {}", begin, kFlatChunk);
    } else {
      end = e.unique("end");
      e.line(fmt::format("const std::int64_t {0} = {1} + {2} < {3} ? {1} + {2} : {3};", end, begin, kFlatChunk, count));
    }
  }
  write_vector_loop(writer, count, begin, end,
                    [&](VarId j) { store_targets(writer, targets, e.unflatten(Affine::variable(j), shape)); });
  if (!pragma.empty()) e.close();
}

// The first dimensions as rows, the others inside.
void write_flat_rows(StageWriter& writer, const Stage& stage, const Shape& shape, int first_inner, InnerForm form) {
  Emitter& e = writer.emitter;
  const Shape outer(shape.begin(), shape.begin() + first_inner);
  Index index(shape.size());
  const std::int64_t rows = numel(outer);
  if (first_inner > 0) {
    const VarId row = e.open_loop("i", rows, writer.parallel_pragma(rows, numel(shape), true));
    const Index parts = e.unflatten(Affine::variable(row), outer);
    std::copy(parts.begin(), parts.end(), index.begin());
    if (writer.wants("prefetch_gather")) e.picking_row = row;
  }
  std::vector<Target> together;
  for (const ValueId root : stage.roots) {
    const auto targets = targets_of(writer, root, first_inner);
    if (targets.size() == 1) {
      together.push_back(targets[0]);
      continue;
    }
    for (const auto& target : targets) write_inner_loops(writer, {target}, index, dims_from(first_inner, shape.size()), form);
  }
  if (!together.empty()) write_inner_loops(writer, together, index, dims_from(first_inner, shape.size()), form);
  e.picking_row = e.later_row = -1;
  if (first_inner > 0) e.close();
}

void write_flat(StageWriter& writer, const Stage& stage) {
  const Shape shape = writer.graph.shape(stage.roots[0]);
  const auto rank = static_cast<int>(shape.size());
  int joined_at = -1;
  for (const ValueId root : stage.roots)
    if (writer.graph.at(root).kind == ValueKind::concat) joined_at = std::max(joined_at, writer.graph.at(root).dims[0]);
  const bool vectors = writer.wants("explicit_vectors") && rank > 0;
  if (vectors && joined_at < 0 && writer.attempt([&] { write_chunks(writer, stage, shape); })) return;
  // The fewest rows whose insides have a form with vectors.
  for (int first = std::max(joined_at, 1); vectors && first < rank; ++first)
    if (writer.attempt([&] { write_flat_rows(writer, stage, shape, first, InnerForm::one_vector); })) return;
  const InnerForm form = vectors ? InnerForm::any : InnerForm::scalar;
  write_flat_rows(writer, stage, shape, std::max(joined_at, std::min(rank, 1)), form);
}

}  // namespace

const Family flat_family{"flat", flat_why_not, write_flat};

}  // namespace kw
