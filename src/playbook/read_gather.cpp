// Elements and rows picked by tensors of positions.
#include <algorithm>

#include "playbook/read.h"

namespace kw {
namespace {

// Rows (all but the leading dimension) of a table, one for each element of `rows`: [rows..., rest of the table].
ValueId pick_rows(Graph& graph, ValueId table, ValueId rows) {
  const Shape own = graph.shape(table);
  const Shape picked = graph.shape(rows);
  Shape flat = own;
  flat[0] = numel(picked);
  Shape column(own.size(), 1);
  column[0] = flat[0];
  const ValueId index = graph.expand(graph.reshape(rows, column), flat);
  Shape shape = picked;
  shape.insert(shape.end(), own.begin() + 1, own.end());
  return graph.reshape(graph.gather(table, index, 0), shape);
}

// Python's rule: -1 is the last.
ValueId counted_from_either_end(Graph& graph, ValueId index, std::int64_t size) {
  const ValueId whole = graph.cast(index, DType::i64);
  const ValueId negative = graph.pointwise("lt", {whole, graph.constant(0, DType::i64)}, DType::boolean);
  const ValueId wrapped = graph.pointwise("add", {whole, graph.constant(static_cast<double>(size), DType::i64)}, DType::i64);
  return graph.pointwise("where", {negative, wrapped, whole}, DType::i64);
}

NodeValues read_embedding(const NodeReader& node) {
  return {pick_rows(node.graph, node.tensor(0), node.graph.cast(node.tensor(1), DType::i64))};
}

NodeValues read_gather(const NodeReader& node) {
  Graph& graph = node.graph;
  const ValueId table = node.tensor(0);
  if (graph.shape(table).empty()) return {table};
  return {graph.gather(table, graph.cast(node.tensor(2), DType::i64), node.dim(1, graph.shape(table).size()))};
}

// (self, indices, dim): both broadcast to each other outside of dim.
NodeValues read_take_along(const NodeReader& node) {
  Graph& graph = node.graph;
  ValueId table = node.tensor(0);
  ValueId index = node.tensor(1);
  if (node.is_none(2)) {
    table = graph.reshape(table, {numel(graph.shape(table))});
    index = graph.reshape(index, {numel(graph.shape(index))});
    return {graph.gather(table, counted_from_either_end(graph, index, graph.shape(table)[0]), 0)};
  }
  const int dim = node.dim(2, graph.shape(table).size());
  Shape of_table = graph.shape(table);
  Shape of_index = graph.shape(index);
  for (std::size_t d = 0; d < of_table.size(); ++d) {
    if (static_cast<int>(d) == dim) continue;
    of_table[d] = of_index[d] = std::max(of_table[d], of_index[d]);
  }
  index = counted_from_either_end(graph, graph.expand(index, of_index), of_table[static_cast<std::size_t>(dim)]);
  return {graph.gather(graph.expand(table, of_table), index, dim)};
}

ValueId select_along(Graph& graph, ValueId table, ValueId index, int dim) {
  Shape shape = graph.shape(table);
  Shape along(shape.size(), 1);
  along[static_cast<std::size_t>(dim)] = shape[static_cast<std::size_t>(dim)] = numel(graph.shape(index));
  return graph.gather(table, graph.expand(graph.reshape(index, along), shape), dim);
}

NodeValues read_index_select(const NodeReader& node) {
  Graph& graph = node.graph;
  const ValueId table = node.tensor(0);
  if (graph.shape(table).empty()) return {table};
  return {select_along(graph, table, graph.cast(node.tensor(2), DType::i64), node.dim(1, graph.shape(table).size()))};
}

// x[i], x[:, i], x[i, j]: tensors of whole numbers for neighbouring dimensions, which then count as one.
NodeValues read_index(const NodeReader& node) {
  Graph& graph = node.graph;
  const ValueId table = node.tensor(0);
  const Shape shape = graph.shape(table);
  std::size_t first = 0, end = 0, at = 0;  // of the dimensions that are picked from
  for (const Json& entry : node.argument(1).at("list")) {
    ++at;
    if (!entry.contains("ref")) continue;
    if (end != 0 && end + 1 != at) throw ReadError{"indexing by tensors with a colon between them"};
    if (end == 0) first = at - 1;
    end = at;
  }
  ValueId row = -1;
  std::int64_t picked_from = 1;
  for (std::size_t d = first; d < end; ++d) {
    const ValueId given = node.tensors(1)[d - first];
    if (graph.dtype(given) == DType::boolean) throw ReadError{"indexing by a mask: the result's size depends on its values"};
    const ValueId index = counted_from_either_end(graph, given, shape[d]);
    if (row >= 0) row = graph.pointwise("mul", {row, graph.constant(static_cast<double>(shape[d]), DType::i64)}, DType::i64);
    row = row < 0 ? index : graph.pointwise("add", {row, index}, DType::i64);
    picked_from *= shape[d];
  }
  const auto part = [&](std::size_t from, std::size_t to) {
    return Shape(shape.begin() + static_cast<std::ptrdiff_t>(from), shape.begin() + static_cast<std::ptrdiff_t>(to));
  };
  const Shape before = part(0, first), behind = part(end, shape.size());
  Shape rows = behind;
  rows.insert(rows.begin(), picked_from);
  if (first == 0) return {pick_rows(graph, graph.reshape(table, rows), row)};
  rows.insert(rows.begin(), numel(before));
  const ValueId picked = select_along(graph, graph.reshape(table, rows), row, 1);
  Shape result = before;
  result.insert(result.end(), graph.shape(row).begin(), graph.shape(row).end());
  result.insert(result.end(), behind.begin(), behind.end());
  return {graph.reshape(picked, result)};
}

constexpr OpRow kLookupOps[] = {
    {"aten.embedding.default", read_embedding},
    {"aten.gather.default", read_gather},
    {"aten.take_along_dim.default", read_take_along},
    {"aten.index_select.default", read_index_select},
    {"aten.index.Tensor", read_index},
};

}  // namespace

std::span<const OpRow> lookup_ops() { return kLookupOps; }

}  // namespace kw
