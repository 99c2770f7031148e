// Positions of extremes, alone or with the extremes themselves.
#include <limits>

#include "playbook/read.h"

namespace kw {
namespace {

constexpr std::int64_t kMostTop = 16;  // topk takes one pass over the row for each

NodeValues read_position(const NodeReader& node, const std::string& fn) {
  Graph& graph = node.graph;
  const ValueId operand = node.tensor(0);
  const Shape shape = graph.shape(operand);
  if (shape.empty()) return {graph.constant(0, DType::i64)};
  if (node.is_none(1)) {
    const ValueId flat = graph.arg_reduce(fn, graph.reshape(operand, {numel(shape)}), 0);
    const bool keepdim = node.count() > 2 && node.boolean(2);
    return {keepdim ? graph.reshape(flat, Shape(shape.size(), 1)) : flat};
  }
  return {graph.arg_reduce(fn, operand, node.dim(1, shape.size()), node.count() > 2 && node.boolean(2))};
}

NodeValues read_extreme_with_position(const NodeReader& node, const std::string& fn) {
  Graph& graph = node.graph;
  const ValueId operand = node.tensor(0);
  const std::size_t rank = graph.shape(operand).size();
  if (rank == 0) return {operand, graph.constant(0, DType::i64)};
  const int dim = node.dim(1, rank);
  const bool keepdim = node.count() > 2 && node.boolean(2);
  return {graph.reduce(fn, operand, {dim}, keepdim), graph.arg_reduce(fn, operand, dim, keepdim)};
}

// The k largest, in order: each is the extreme of what the ones before it leave.
NodeValues read_top(const NodeReader& node) {
  Graph& graph = node.graph;
  const ValueId operand = node.tensor(0);
  const Shape shape = graph.shape(operand);
  const std::int64_t wanted = node.integer(1);
  if (shape.empty() || wanted < 1 || wanted > kMostTop || !is_floating(graph.dtype(operand)))
    throw ReadError{"topk of more than 16 elements, of none or of whole numbers"};
  const int dim = node.is_none(2) ? static_cast<int>(shape.size()) - 1 : node.dim(2, shape.size());
  const bool largest = node.is_none(3) || node.boolean(3);
  const std::string fn = largest ? "max" : "min";
  const auto at = static_cast<std::size_t>(dim);
  Shape along(shape.size(), 1);
  along[at] = shape[at];
  const ValueId position = graph.expand(graph.reshape(graph.iota(shape[at]), along), shape);
  const ValueId never = graph.constant(largest ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity(),
                                       graph.dtype(operand));
  ValueId left = operand;
  std::vector<ValueId> extremes;
  std::vector<ValueId> positions;
  for (std::int64_t i = 0; i < wanted; ++i) {
    extremes.push_back(graph.reduce(fn, left, {dim}, true));
    positions.push_back(graph.arg_reduce(fn, left, dim, true));
    const ValueId taken = graph.pointwise("eq", {position, positions.back()}, DType::boolean);
    left = graph.pointwise("where", {taken, never, left}, graph.dtype(operand));
  }
  const auto joined = [&](const std::vector<ValueId>& parts) {
    if (parts.size() == 1) return parts[0];
    Value value{.kind = ValueKind::concat, .dtype = graph.dtype(parts[0]), .shape = shape, .operands = parts};
    value.shape[at] = wanted;
    value.dims = {dim};
    return graph.add(std::move(value));
  };
  return {joined(extremes), joined(positions)};
}

constexpr OpRow kArgOps[] = {
    {"aten.argmax.default", [](const NodeReader& node) { return read_position(node, "max"); }},
    {"aten.argmin.default", [](const NodeReader& node) { return read_position(node, "min"); }},
    {"aten.max.dim", [](const NodeReader& node) { return read_extreme_with_position(node, "max"); }},
    {"aten.min.dim", [](const NodeReader& node) { return read_extreme_with_position(node, "min"); }},
    {"aten.topk.default", read_top},
};

}  // namespace

std::span<const OpRow> arg_ops() { return kArgOps; }

}  // namespace kw
