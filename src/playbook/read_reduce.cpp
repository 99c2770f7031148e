// Reductions, softmax and what is made of them.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "playbook/read.h"

namespace kw {

std::vector<int> all_dims(std::size_t rank) {
  std::vector<int> dims(rank);
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

static std::int64_t count_of(const Graph& graph, ValueId x, const std::vector<int>& dims) {
  std::int64_t count = 1;
  for (const int d : dims) count *= graph.shape(x)[static_cast<std::size_t>(d)];
  return count;
}

ValueId mean_over(Graph& graph, ValueId x, const std::vector<int>& dims, bool keepdim) {
  const DType dtype = graph.dtype(x);
  const std::int64_t count = count_of(graph, x, dims);
  const ValueId sum = graph.shape(x).empty() ? x : graph.reduce("sum", x, dims, keepdim);
  return graph.pointwise("div", {sum, graph.constant(static_cast<double>(count), dtype)}, dtype);
}

// The middle one of three elements: not the one that is far from all others, if there is one.
static ValueId one_of_many(Graph& graph, ValueId x, const std::vector<int>& dims) {
  const DType dtype = graph.dtype(x);
  const auto at = [&](std::int64_t part) {  // 0, 1 and 2: the first, one half way, and the last
    ValueId element = x;
    for (const int d : dims) {
      const std::int64_t place = (graph.shape(x)[static_cast<std::size_t>(d)] - 1) * part / 2;
      element = graph.slice(element, d, place, 1);
    }
    return element;
  };
  if (count_of(graph, x, dims) < 3) return at(0);
  const ValueId first = at(0), half_way = at(1), last = at(2);
  const ValueId low = graph.pointwise("minimum", {first, half_way}, dtype);
  const ValueId high = graph.pointwise("maximum", {first, half_way}, dtype);
  return graph.pointwise("maximum", {low, graph.pointwise("minimum", {high, last}, dtype)}, dtype);
}

// By way of the distances from one of the elements, whose sum keeps its digits where all are far from zero: equal elements are at
// no distance from their mean, as they are for PyTorch.
ValueId centred_over(Graph& graph, ValueId x, const std::vector<int>& dims) {
  const DType dtype = graph.dtype(x);
  const ValueId from = one_of_many(graph, x, dims);
  const ValueId distance = graph.pointwise("sub", {x, from}, dtype);
  return graph.pointwise("sub", {distance, mean_over(graph, distance, dims, true)}, dtype);
}

namespace {

// The list of dimensions at a position; none or empty: all.
std::vector<int> dims_at(const NodeReader& node, std::size_t position, std::size_t rank) {
  if (node.is_none(position)) return all_dims(rank);
  std::vector<int> dims;
  for (const auto d : node.integers(position)) dims.push_back(static_cast<int>(d < 0 ? d + static_cast<std::int64_t>(rank) : d));
  return dims.empty() ? all_dims(rank) : dims;
}

ValueId reduced(const NodeReader& node, const char* fn, const std::vector<int>& dims, bool keepdim) {
  Graph& graph = node.graph;
  if (graph.shape(node.tensor(0)).empty()) return graph.cast(node.tensor(0), node.dtype());
  const ValueId x = graph.cast(node.tensor(0), node.dtype());
  return std::string_view(fn) == "sum" ? sum_over(graph, x, dims, keepdim) : graph.reduce(fn, x, dims, keepdim);
}

std::size_t rank_of(const NodeReader& node) { return node.graph.shape(node.tensor(0)).size(); }

template <const char* Fn>
NodeValues read_whole(const NodeReader& node) {
  return {reduced(node, Fn, all_dims(rank_of(node)), false)};
}

// (self, dims, keepdim)
template <const char* Fn>
NodeValues read_along(const NodeReader& node) {
  return {reduced(node, Fn, dims_at(node, 1, rank_of(node)), !node.is_none(2) && node.boolean(2))};
}

NodeValues read_mean(const NodeReader& node) {
  Graph& graph = node.graph;
  const ValueId x = graph.cast(node.tensor(0), node.dtype());
  const bool along = node.op() == "aten.mean.dim";
  const auto dims = along ? dims_at(node, 1, rank_of(node)) : all_dims(rank_of(node));
  if (graph.shape(x).empty()) return {mean_over(graph, x, dims, false)};
  const ValueId sum = sum_over(graph, x, dims, along && !node.is_none(2) && node.boolean(2));
  return {graph.pointwise("div", {sum, graph.constant(static_cast<double>(count_of(graph, x, dims)), node.dtype())}, node.dtype())};
}

// `correction` is what the count is less by.
NodeValues variance_over(const NodeReader& node, const std::vector<int>& dims, double correction, bool keepdim) {
  Graph& graph = node.graph;
  const ValueId x = node.tensor(0);
  const DType dtype = graph.dtype(x);
  const ValueId squares = graph.reduce("sum", graph.pointwise("square", {centred_over(graph, x, dims)}, dtype), dims, keepdim);
  const double count = std::max(0.0, static_cast<double>(count_of(graph, x, dims)) - correction);
  const ValueId variance = graph.pointwise("div", {squares, graph.constant(count, dtype)}, dtype);
  return {node.op().starts_with("aten.std") ? graph.pointwise("sqrt", {variance}, dtype) : variance};
}

// var and std: (self, dims, keyword correction and keepdim).
NodeValues read_var(const NodeReader& node) {
  const auto keyword = [&](const char* name, double otherwise) {
    const Json* given = node.keyword(name);
    if (given == nullptr || !given->contains("const") || (*given)["const"].is_null()) return otherwise;
    return (*given)["const"].is_boolean() ? ((*given)["const"].get<bool>() ? 1.0 : 0.0) : (*given)["const"].get<double>();
  };
  return variance_over(node, dims_at(node, 1, rank_of(node)), keyword("correction", 1), keyword("keepdim", 0) != 0);
}

// Both at once.
NodeValues read_var_and_mean(const NodeReader& node) {
  const Json* keepdim = node.keyword("keepdim");
  const bool keep =
      keepdim != nullptr && keepdim->contains("const") && (*keepdim)["const"].is_boolean() && (*keepdim)["const"].get<bool>();
  NodeValues both = read_var(node);
  both.push_back(mean_over(node.graph, node.tensor(0), dims_at(node, 1, rank_of(node)), keep));
  return both;
}

// Primitives of PyTorch's rules: (self, dims) and (self, dims, correction).
NodeValues read_primitive_sum(const NodeReader& node) {
  return {sum_over(node.graph, node.graph.cast(node.tensor(0), node.dtype()), dims_at(node, 1, rank_of(node)), false)};
}
NodeValues read_primitive_var(const NodeReader& node) {
  return variance_over(node, dims_at(node, 1, rank_of(node)), node.is_none(2) ? 1 : node.number(2), false);
}

// The older forms: (self, unbiased) and (self, dims, unbiased, keepdim).
NodeValues read_var_unbiased(const NodeReader& node) {
  return variance_over(node, all_dims(rank_of(node)), node.boolean(1) ? 1 : 0, false);
}
NodeValues read_var_dim(const NodeReader& node) {
  return variance_over(node, dims_at(node, 1, rank_of(node)), node.boolean(2) ? 1 : 0, node.boolean(3));
}

ValueId vector_norm(Graph& graph, ValueId x, double order, const std::vector<int>& dims, bool keepdim) {
  const DType dtype = graph.dtype(x);
  const ValueId size = graph.pointwise("abs", {x}, dtype);
  // Of one number: its square could be too small to be held.
  if (count_of(graph, x, dims) == 1 && order != 0) return graph.reduce("sum", size, dims, keepdim);
  if (std::isinf(order)) return graph.reduce(order > 0 ? "max" : "min", size, dims, keepdim);
  if (order == 2)
    return graph.pointwise("sqrt", {graph.reduce("sum", graph.pointwise("square", {x}, dtype), dims, keepdim)}, dtype);
  if (order == 1) return graph.reduce("sum", size, dims, keepdim);
  if (order == 0) {
    const ValueId counted = graph.pointwise("ne", {x, graph.constant(0, dtype)}, DType::boolean);
    return graph.reduce("sum", graph.cast(counted, dtype), dims, keepdim);
  }
  const ValueId powers = graph.reduce("sum", graph.pointwise("pow", {size, graph.constant(order, dtype)}, dtype), dims, keepdim);
  return graph.pointwise("pow", {powers, graph.constant(1 / order, dtype)}, dtype);
}

// (self, order, dims, keepdim)
NodeValues read_vector_norm(const NodeReader& node) {
  const bool keepdim = !node.is_none(3) && node.boolean(3);
  return {vector_norm(node.graph, node.graph.cast(node.tensor(0), node.dtype()), node.is_none(1) ? 2 : node.number(1),
                      dims_at(node, 2, rank_of(node)), keepdim)};
}

NodeValues read_matrix_norm(const NodeReader& node) {
  if (node.string(1) != "fro") throw ReadError{"a matrix norm that is not Frobenius'"};
  return {vector_norm(node.graph, node.tensor(0), 2, dims_at(node, 2, rank_of(node)), node.boolean(3))};
}

// (self, order, dims, keepdim): of all elements where neither is given, else of a vector.
NodeValues read_any_norm(const NodeReader& node) {
  const bool all = node.is_none(1) && node.is_none(2);
  const std::size_t along = node.is_none(2) ? rank_of(node) : node.integers(2).size();
  if (!all && along != 1 && !node.is_none(1)) throw ReadError{"a norm of matrices; linalg.vector_norm is known"};
  return read_vector_norm(node);
}

NodeValues read_softmax(const NodeReader& node) {
  Graph& graph = node.graph;
  const DType dtype = node.dtype();
  const ValueId x = graph.cast(node.tensor(0), dtype);
  if (graph.shape(x).empty()) return {graph.constant(node.op().find("log") != std::string::npos ? 0 : 1, dtype)};
  const std::vector<int> dims{node.dim(1, graph.shape(x).size())};
  const ValueId shifted = graph.pointwise("sub", {x, graph.reduce("max", x, dims, true)}, dtype);
  const ValueId exponential = graph.pointwise("exp", {shifted}, dtype);
  const ValueId sum = graph.reduce("sum", exponential, dims, true);
  if (node.op().find("log") == std::string::npos) return {graph.pointwise("div", {exponential, sum}, dtype)};
  return {graph.pointwise("sub", {shifted, graph.pointwise("log", {sum}, dtype)}, dtype)};
}

NodeValues read_logsumexp(const NodeReader& node) {
  Graph& graph = node.graph;
  const DType dtype = node.dtype();
  const ValueId x = graph.cast(node.tensor(0), dtype);
  const auto dims = dims_at(node, 1, rank_of(node));
  const bool keepdim = !node.is_none(2) && node.boolean(2);
  const ValueId greatest = graph.reduce("max", x, dims, true);
  const ValueId infinite = graph.pointwise("isinf", {greatest}, DType::boolean);
  const ValueId shift = graph.pointwise("where", {infinite, graph.constant(0, dtype), greatest}, dtype);
  const ValueId sum = graph.reduce("sum", graph.pointwise("exp", {graph.pointwise("sub", {x, shift}, dtype)}, dtype), dims, true);
  const ValueId result = graph.pointwise("add", {graph.pointwise("log", {sum}, dtype), shift}, dtype);
  return {keepdim ? result : graph.reshape(result, node.shape())};
}

constexpr char kSum[] = "sum", kProd[] = "prod", kMax[] = "max", kMin[] = "min", kAny[] = "any", kAll[] = "all";

constexpr OpRow kReduceOps[] = {
    {"aten.sum.default", read_whole<kSum>},
    {"aten.sum.dim_IntList", read_along<kSum>},
    {"aten.prod.default", read_whole<kProd>},
    {"aten.prod.dim_int", read_along<kProd>},
    {"aten.amax.default", read_along<kMax>},
    {"aten.amin.default", read_along<kMin>},
    {"aten.max.default", read_whole<kMax>},
    {"aten.min.default", read_whole<kMin>},
    {"aten.any.default", read_whole<kAny>},
    {"aten.any.dim", read_along<kAny>},
    {"aten.all.default", read_whole<kAll>},
    {"aten.all.dim", read_along<kAll>},
    {"aten.mean.default", read_mean},
    {"aten.mean.dim", read_mean},
    {"aten.var.correction", read_var},
    {"aten.var_mean.correction", read_var_and_mean},
    {"aten.std_mean.correction", read_var_and_mean},
    {"prims.sum.default", read_primitive_sum},
    {"prims.var.default", read_primitive_var},
    {"aten.var.default", read_var_unbiased},
    {"aten.var.dim", read_var_dim},
    {"aten.std.correction", read_var},
    {"aten.std.default", read_var_unbiased},
    {"aten.std.dim", read_var_dim},
    {"aten.linalg_vector_norm.default", read_vector_norm},
    {"aten.linalg_norm.default", read_any_norm},
    {"aten.norm.ScalarOpt_dim", read_vector_norm},
    {"aten.norm.Scalar", read_vector_norm},
    {"aten.linalg_matrix_norm.str_ord", read_matrix_norm},
    {"aten.softmax.int", read_softmax},
    {"aten._softmax.default", read_softmax},
    {"aten.log_softmax.int", read_softmax},
    {"aten._log_softmax.default", read_softmax},
    {"aten.logsumexp.default", read_logsumexp},
};

}  // namespace

std::span<const OpRow> reduce_ops() { return kReduceOps; }

}  // namespace kw
