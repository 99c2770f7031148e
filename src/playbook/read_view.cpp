// Views, joins and masks of positions: nothing here computes.
#include <algorithm>

#include "playbook/read.h"

namespace kw {
namespace {

std::size_t view_rank(const NodeReader& node) { return node.graph.shape(node.tensor(0)).size(); }

NodeValues read_reshape(const NodeReader& node) { return {node.graph.reshape(node.tensor(0), node.shape())}; }
NodeValues read_expand(const NodeReader& node) { return {node.graph.expand(node.tensor(0), node.shape())}; }

NodeValues read_permute(const NodeReader& node) {
  std::vector<int> order;
  for (const auto d : node.integers(1))
    order.push_back(static_cast<int>(d < 0 ? d + static_cast<std::int64_t>(view_rank(node)) : d));
  return {node.graph.permute(node.tensor(0), order)};
}

NodeValues swapped(const NodeReader& node, int a, int b) {
  std::vector<int> order = all_dims(view_rank(node));
  std::swap(order[static_cast<std::size_t>(a)], order[static_cast<std::size_t>(b)]);
  return {node.graph.permute(node.tensor(0), order)};
}
NodeValues read_transpose(const NodeReader& node) {
  return view_rank(node) == 0 ? NodeValues{node.tensor(0)}
                              : swapped(node, node.dim(1, view_rank(node)), node.dim(2, view_rank(node)));
}
NodeValues read_t(const NodeReader& node) { return view_rank(node) < 2 ? NodeValues{node.tensor(0)} : swapped(node, 0, 1); }
NodeValues read_mt(const NodeReader& node) {
  return swapped(node, static_cast<int>(view_rank(node)) - 2, static_cast<int>(view_rank(node)) - 1);
}

// (self, dim, start, end, step)
NodeValues read_slice(const NodeReader& node) {
  const int dim = node.is_none(1) ? 0 : node.dim(1, view_rank(node));
  const std::int64_t size = node.graph.shape(node.tensor(0))[static_cast<std::size_t>(dim)];
  std::int64_t start = node.is_none(2) ? 0 : node.integer(2);
  if (start < 0) start += size;
  start = std::clamp<std::int64_t>(start, 0, size);
  const std::int64_t step = node.is_none(4) ? 1 : node.integer(4);
  return {node.graph.slice(node.tensor(0), dim, start, node.shape()[static_cast<std::size_t>(dim)], step)};
}

NodeValues read_narrow(const NodeReader& node) {
  return {node.graph.slice(node.tensor(0), node.dim(1, view_rank(node)), node.integer(2), node.integer(3))};
}

NodeValues read_select(const NodeReader& node) {
  const int dim = node.dim(1, view_rank(node));
  const std::int64_t size = node.graph.shape(node.tensor(0))[static_cast<std::size_t>(dim)];
  const std::int64_t position = node.integer(2);
  return {node.graph.select(node.tensor(0), dim, position < 0 ? position + size : position)};
}

// chunk, split, split_with_sizes, unbind: the sizes are those of the results.
NodeValues read_parts(const NodeReader& node) {
  const int dim = node.op().starts_with("aten.unbind") ? node.dim(1, view_rank(node))
                  : node.is_none(2)                    ? 0
                                                       : node.dim(2, view_rank(node));
  const bool unbind = node.op().starts_with("aten.unbind");
  NodeValues parts;
  std::int64_t start = 0;
  for (const auto& result : node.node.at("results")) {
    if (unbind) {
      parts.push_back(node.graph.select(node.tensor(0), dim, start++));
      continue;
    }
    const auto size = result.at("shape").get<Shape>()[static_cast<std::size_t>(dim)];
    parts.push_back(node.graph.slice(node.tensor(0), dim, start, size));
    start += size;
  }
  return parts;
}

NodeValues read_getitem(const NodeReader& node) {
  const auto& results = node.results(0);
  const auto position = static_cast<std::size_t>(node.integer(1));
  if (position >= results.size()) return {};  // not computed: an error only where something reads it
  return {results[position]};
}

NodeValues read_flip(const NodeReader& node) {
  ValueId x = node.tensor(0);
  for (const auto d : node.integers(1))
    x = node.graph.flip(x, static_cast<int>(d < 0 ? d + static_cast<std::int64_t>(view_rank(node)) : d));
  return {x};
}

ValueId joined(const NodeReader& node, const std::vector<ValueId>& parts, int dim) {
  if (parts.size() == 1) return parts[0];
  Value value{.kind = ValueKind::concat, .dtype = node.dtype(), .shape = node.shape()};
  for (const ValueId part : parts)
    if (numel(node.graph.shape(part)) > 0) value.operands.push_back(node.graph.cast(part, node.dtype()));
  value.dims = {dim};
  if (value.operands.size() == 2 && node.graph.shape(value.operands[0])[static_cast<std::size_t>(dim)] == 1)
    if (const ValueId scan = scan_of_before(node.graph, value.operands[0], value.operands[1], dim); scan >= 0) return scan;
  return value.operands.size() == 1 ? value.operands[0] : node.graph.add(std::move(value));
}

NodeValues read_cat(const NodeReader& node) {
  return {joined(node, node.tensors(0), node.is_none(1) ? 0 : node.dim(1, node.shape().size()))};
}

// (self, src): what was written over a whole tensor.
NodeValues read_copy(const NodeReader& node) {
  return {node.graph.cast(node.graph.expand(node.tensor(1), node.shape()), node.dtype())};
}

// `part` in the place of what x has from `start` on along a dimension.
ValueId with_part(const NodeReader& node, ValueId x, ValueId part, int dim, std::int64_t start) {
  Graph& graph = node.graph;
  const std::int64_t size = graph.shape(x)[static_cast<std::size_t>(dim)];
  const std::int64_t end = start + graph.shape(part)[static_cast<std::size_t>(dim)];
  std::vector<ValueId> parts;
  if (start > 0) parts.push_back(graph.slice(x, dim, 0, start));
  if (end > start) parts.push_back(graph.cast(part, graph.dtype(x)));
  if (end < size) parts.push_back(graph.slice(x, dim, end, size - end));
  return parts.empty() ? x : joined(node, parts, dim);
}

// (self, src, dim, start, end, step): what was written into a slice.
NodeValues read_slice_scatter(const NodeReader& node) {
  const int dim = node.dim(2, view_rank(node));
  const std::int64_t size = node.shape()[static_cast<std::size_t>(dim)];
  if (!node.is_none(5) && node.integer(5) != 1) throw ReadError{"it writes into every other element only"};
  std::int64_t start = node.is_none(3) ? 0 : node.integer(3);
  if (start < 0) start += size;
  return {with_part(node, node.tensor(0), node.tensor(1), dim, std::clamp<std::int64_t>(start, 0, size))};
}

// (self, src, dim, index): what was written at one position.
NodeValues read_select_scatter(const NodeReader& node) {
  const int dim = node.dim(2, view_rank(node));
  const std::int64_t at = node.integer(3);
  const std::int64_t start = at < 0 ? at + node.shape()[static_cast<std::size_t>(dim)] : at;
  return {with_part(node, node.tensor(0), node.graph.unsqueeze(node.tensor(1), dim), dim, start)};
}

// (self, dim, size, step): windows along a dimension, the position within each as a new last one.
NodeValues read_unfold(const NodeReader& node) {
  Graph& graph = node.graph;
  const ValueId x = node.tensor(0);
  const int dim = node.dim(1, view_rank(node));
  const auto at = static_cast<std::size_t>(dim);
  const std::int64_t size = node.integer(2), step = node.integer(3), count = node.shape()[at];
  if (size == step) {
    // Windows that only touch are the same elements in the same order.
    Shape apart = graph.shape(x);
    apart[at] = count;
    apart.insert(apart.begin() + dim + 1, size);
    std::vector<int> order = all_dims(apart.size());
    order.erase(order.begin() + dim + 1);
    order.push_back(dim + 1);
    return {graph.permute(graph.reshape(graph.slice(x, dim, 0, count * size), apart), order)};
  }
  std::vector<ValueId> parts;
  for (std::int64_t k = 0; k < size; ++k)
    parts.push_back(graph.unsqueeze(graph.slice(x, dim, k, count, step), static_cast<int>(view_rank(node))));
  return {joined(node, parts, static_cast<int>(view_rank(node)))};
}

NodeValues read_stack(const NodeReader& node) {
  const int dim = node.is_none(1) ? 0 : node.dim(1, node.shape().size());
  std::vector<ValueId> parts;
  for (const ValueId part : node.tensors(0)) parts.push_back(node.graph.unsqueeze(part, dim));
  return {joined(node, parts, dim)};
}

// Positions along a dimension, in the shape of the result.
ValueId positions(const NodeReader& node, const Shape& shape, std::size_t dim) {
  Shape own(shape.size(), 1);
  own[dim] = shape[dim];
  return node.graph.expand(node.graph.reshape(node.graph.iota(shape[dim]), own), shape);
}

// tril keeps column - row <= diagonal, triu column - row >= diagonal.
NodeValues read_triangle(const NodeReader& node) {
  Graph& graph = node.graph;
  const Shape shape = node.shape();
  const double diagonal = node.is_none(1) ? 0 : node.number(1);
  const ValueId row =
      graph.pointwise("add", {positions(node, shape, shape.size() - 2), graph.constant(diagonal, DType::i64)}, DType::i64);
  const ValueId column = positions(node, shape, shape.size() - 1);
  const ValueId kept = graph.pointwise(node.op().starts_with("aten.tril") ? "le" : "ge", {column, row}, DType::boolean);
  return {graph.pointwise("where", {kept, node.tensor(0), graph.constant(0, node.dtype())}, node.dtype())};
}

// A vector on the diagonal of a matrix, or the diagonal of a matrix.
NodeValues read_diag(const NodeReader& node) {
  Graph& graph = node.graph;
  const ValueId x = node.tensor(0);
  if (!node.is_none(1) && node.integer(1) != 0) throw ReadError{"a diagonal beside the main one"};
  if (view_rank(node) == 2) return {graph.view(x, node.shape(), {{0, 1, 0}, {0, 1, 0}})};
  const Shape shape = node.shape();
  const ValueId on = graph.pointwise("eq", {positions(node, shape, 0), positions(node, shape, 1)}, DType::boolean);
  return {graph.pointwise("where", {on, graph.view(x, shape, {{0, 1, 0}}), graph.constant(0, node.dtype())}, node.dtype())};
}

// One dimension with elements of its own before and behind: mirrored without the edge, from the other end, or the edge again.
ValueId padded_by_itself(Graph& graph, ValueId x, int dim, std::int64_t before, std::int64_t behind, const std::string& mode) {
  const auto at = static_cast<std::size_t>(dim);
  const std::int64_t size = graph.shape(x)[at];
  const auto part = [&](std::int64_t count, bool front) {
    if (mode == "reflect") return graph.flip(graph.slice(x, dim, front ? 1 : size - 1 - count, count), dim);
    if (mode == "circular") return graph.slice(x, dim, front ? size - count : 0, count);
    Shape spread = graph.shape(x);
    spread[at] = count;
    return graph.expand(graph.slice(x, dim, front ? 0 : size - 1, 1), spread);
  };
  Value value{.kind = ValueKind::concat, .dtype = graph.dtype(x), .shape = graph.shape(x), .dims = {dim}};
  value.shape[at] += before + behind;
  if (before > 0) value.operands.push_back(part(before, true));
  value.operands.push_back(x);
  if (behind > 0) value.operands.push_back(part(behind, false));
  return value.operands.size() == 1 ? x : graph.add(std::move(value));
}

NodeValues read_pad_by_itself(const NodeReader& node, const std::string& mode) {
  if (mode != "reflect" && mode != "replicate" && mode != "circular") throw ReadError{"padding by " + mode};
  const auto pad = node.integers(1);
  ValueId x = node.tensor(0);
  for (std::size_t i = 0; i + 1 < pad.size(); i += 2) {
    const int dim = static_cast<int>(view_rank(node)) - 1 - static_cast<int>(i / 2);
    x = padded_by_itself(node.graph, x, dim, std::max<std::int64_t>(0, pad[i]), std::max<std::int64_t>(0, pad[i + 1]), mode);
    // What is negative is cut off.
    const std::int64_t from = std::max<std::int64_t>(0, -pad[i]), less = std::max<std::int64_t>(0, -pad[i + 1]);
    x = node.graph.slice(x, dim, from, node.graph.shape(x)[static_cast<std::size_t>(dim)] - from - less);
  }
  return {x};
}
NodeValues read_reflection_pad(const NodeReader& node) { return read_pad_by_itself(node, "reflect"); }
NodeValues read_replication_pad(const NodeReader& node) { return read_pad_by_itself(node, "replicate"); }

// (self, pad from the last dimension on, [mode,] value)
NodeValues read_pad(const NodeReader& node) {
  const bool moded = node.op() == "aten.pad.default";
  if (moded && node.string(2) != "constant") return read_pad_by_itself(node, node.string(2));
  const std::size_t at = moded ? 3 : 2;
  const auto pad = node.integers(1);
  const Shape own = node.graph.shape(node.tensor(0));
  ValueId x = node.tensor(0);
  Value value{.kind = ValueKind::pad, .dtype = node.dtype(), .shape = node.shape()};
  value.before.assign(own.size(), 0);
  for (std::size_t i = 0; i + 1 < pad.size(); i += 2) {
    const std::size_t d = own.size() - 1 - i / 2;
    const std::int64_t cut_front = std::max<std::int64_t>(0, -pad[i]);
    const std::int64_t cut_back = std::max<std::int64_t>(0, -pad[i + 1]);
    if (cut_front + cut_back > 0) x = node.graph.slice(x, static_cast<int>(d), cut_front, own[d] - cut_front - cut_back);
    value.before[d] = std::max<std::int64_t>(0, pad[i]);
  }
  if (node.graph.shape(x) == value.shape) return {x};
  value.operands = {x, node.graph.constant(node.is_none(at) ? 0 : node.number(at), node.dtype())};
  for (std::size_t d = 0; d < own.size(); ++d)
    if (value.before[d] == 1)
      if (const ValueId scan = scan_of_before(node.graph, value.operands[1], x, static_cast<int>(d));
          scan >= 0 && node.graph.shape(scan) == value.shape)
        return {scan};
  return {node.graph.add(std::move(value))};
}

// Blocks of channels become blocks of pixels.
NodeValues read_pixel_shuffle(const NodeReader& node) {
  Graph& graph = node.graph;
  const std::int64_t r = node.integer(1);
  const Shape own = graph.shape(node.tensor(0));
  if (own.size() != 4) throw ReadError{"pixels without a batch"};
  const ValueId split = graph.reshape(node.tensor(0), {own[0], own[1] / (r * r), r, r, own[2], own[3]});
  return {graph.reshape(graph.permute(split, {0, 1, 4, 2, 5, 3}), node.shape())};
}

NodeValues read_repeat(const NodeReader& node) {
  Graph& graph = node.graph;
  const Shape shape = node.shape();
  const auto repeats = node.integers(1);
  Shape own = graph.shape(node.tensor(0));
  own.insert(own.begin(), shape.size() - own.size(), 1);
  Shape split;
  Shape spread;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    split.insert(split.end(), {1, own[d]});
    spread.insert(spread.end(), {repeats[d], own[d]});
  }
  return {graph.reshape(graph.expand(graph.reshape(node.tensor(0), split), spread), shape)};
}

NodeValues read_roll(const NodeReader& node) {
  ValueId x = node.tensor(0);
  const auto shifts = node.integers(1);
  const auto dims = node.is_none(2) ? std::vector<std::int64_t>{} : node.integers(2);
  if (dims.empty() && shifts.size() == 1) {  // of all elements, one after the other
    const std::int64_t size = numel(node.shape());
    const std::int64_t shift = size == 0 ? 0 : ((shifts[0] % size) + size) % size;
    if (shift == 0) return {x};
    const ValueId flat = node.graph.reshape(x, {size});
    Value rolled{.kind = ValueKind::concat, .dtype = node.dtype(), .shape = {size}};
    rolled.operands = {node.graph.slice(flat, 0, size - shift, shift), node.graph.slice(flat, 0, 0, size - shift)};
    rolled.dims = {0};
    return {node.graph.reshape(node.graph.add(std::move(rolled)), node.shape())};
  }
  if (dims.size() != shifts.size()) throw ReadError{"a roll with other dimensions than shifts"};
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const int dim = static_cast<int>(dims[i] < 0 ? dims[i] + static_cast<std::int64_t>(view_rank(node)) : dims[i]);
    const std::int64_t size = node.shape()[static_cast<std::size_t>(dim)];
    const std::int64_t shift = ((shifts[i] % size) + size) % size;
    if (shift == 0) continue;
    x = joined(node, {node.graph.slice(x, dim, size - shift, shift), node.graph.slice(x, dim, 0, size - shift)}, dim);
  }
  return {x};
}

NodeValues read_broadcast(const NodeReader& node) {
  NodeValues all;
  std::size_t i = 0;
  for (const ValueId tensor : node.tensors(0))
    all.push_back(node.graph.expand(tensor, node.node.at("results")[i++].at("shape").get<Shape>()));
  return all;
}

// (self, dim, index, value), where index picks one position of each row.
NodeValues read_scatter_value(const NodeReader& node) {
  Graph& graph = node.graph;
  const ValueId x = node.tensor(0);
  const Shape shape = node.shape();
  const int dim = node.dim(1, shape.size());
  const ValueId index = node.tensor(2);
  Shape expected = shape;
  expected[static_cast<std::size_t>(dim)] = 1;
  if (graph.shape(index) != expected) throw ReadError{"several positions of a row"};
  const ValueId hit =
      graph.pointwise("eq", {positions(node, shape, static_cast<std::size_t>(dim)), graph.cast(index, DType::i64)}, DType::boolean);
  return {graph.pointwise("where", {hit, graph.cast(node.operand(3), node.dtype()), x}, node.dtype())};
}

constexpr OpRow kViewOps[] = {
    {"aten.view.default", read_reshape},
    {"aten.reshape.default", read_reshape},
    {"aten._unsafe_view.default", read_reshape},
    {"aten.flatten.using_ints", read_reshape},
    {"aten.unflatten.int", read_reshape},
    {"aten.squeeze.default", read_reshape},
    {"aten.squeeze.dim", read_reshape},
    {"aten.squeeze.dims", read_reshape},
    {"aten.unsqueeze.default", read_reshape},
    {"aten.view_as.default", read_reshape},
    {"aten.reshape_as.default", read_reshape},
    {"aten.expand.default", read_expand},
    {"aten.expand_as.default", read_expand},
    {"aten.broadcast_to.default", read_expand},
    {"aten.permute.default", read_permute},
    {"aten.transpose.int", read_transpose},
    {"aten.swapaxes.default", read_transpose},
    {"aten.t.default", read_t},
    {"aten.numpy_T.default", read_t},
    {"aten.mT.default", read_mt},
    {"aten.slice.Tensor", read_slice},
    {"aten.narrow.default", read_narrow},
    {"aten.select.int", read_select},
    {"aten.chunk.default", read_parts},
    {"aten.split.Tensor", read_parts},
    {"aten.split.sizes", read_parts},
    {"aten.split_with_sizes.default", read_parts},
    {"aten.unbind.int", read_parts},
    {"operator.getitem", read_getitem},
    {"aten.flip.default", read_flip},
    {"aten.cat.default", read_cat},
    {"aten.concat.default", read_cat},
    {"aten.stack.default", read_stack},
    {"aten.copy.default", read_copy},
    {"aten.slice_scatter.default", read_slice_scatter},
    {"aten.select_scatter.default", read_select_scatter},
    {"aten.unfold.default", read_unfold},
    {"aten.tril.default", read_triangle},
    {"aten.triu.default", read_triangle},
    {"aten.diag.default", read_diag},
    {"aten.diag_embed.default", read_diag},
    {"aten.pad.default", read_pad},
    {"aten.constant_pad_nd.default", read_pad},
    {"aten.reflection_pad1d.default", read_reflection_pad},
    {"aten.reflection_pad2d.default", read_reflection_pad},
    {"aten.reflection_pad3d.default", read_reflection_pad},
    {"aten.replication_pad1d.default", read_replication_pad},
    {"aten.replication_pad2d.default", read_replication_pad},
    {"aten.replication_pad3d.default", read_replication_pad},
    {"aten.pixel_shuffle.default", read_pixel_shuffle},
    {"aten.repeat.default", read_repeat},
    {"aten.tile.default", read_repeat},
    {"aten.roll.default", read_roll},
    {"aten.broadcast_tensors.default", read_broadcast},
    {"aten.scatter.value", read_scatter_value},
};

}  // namespace

std::span<const OpRow> view_ops() { return kViewOps; }

}  // namespace kw
