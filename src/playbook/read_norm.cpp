// Normalisations, taken apart into means, variances and arithmetic.
#include "playbook/read.h"

namespace kw {
namespace {

ValueId arithmetic(Graph& graph, const char* fn, ValueId a, ValueId b) { return graph.pointwise(fn, {a, b}, graph.dtype(a)); }

// (x - mean) / sqrt(variance + epsilon) over some dimensions.
ValueId standardised(Graph& graph, ValueId x, const std::vector<int>& dims, double epsilon) {
  const DType dtype = graph.dtype(x);
  const ValueId centred = centred_over(graph, x, dims);
  const ValueId variance = mean_over(graph, graph.pointwise("square", {centred}, dtype), dims, true);
  const ValueId scale = graph.pointwise("rsqrt", {arithmetic(graph, "add", variance, graph.constant(epsilon, dtype))}, dtype);
  return arithmetic(graph, "mul", centred, scale);
}

// times weight plus bias, each of which may be absent; both have been given x's rank.
ValueId scaled_and_shifted(Graph& graph, ValueId x, ValueId weight, ValueId bias) {
  if (weight >= 0) x = arithmetic(graph, "mul", x, weight);
  if (bias >= 0) x = arithmetic(graph, "add", x, bias);
  return x;
}

ValueId optional(const NodeReader& node, std::size_t position) { return node.is_none(position) ? -1 : node.tensor(position); }

// One number a channel, in the shape [1, C, 1, ...].
ValueId by_channel(Graph& graph, ValueId vector, std::size_t rank) {
  if (vector < 0) return vector;
  Shape shape(rank, 1);
  shape[1] = numel(graph.shape(vector));
  return graph.reshape(vector, shape);
}

// (x, normalized_shape, weight, bias, epsilon)
NodeValues read_layer_norm(const NodeReader& node) {
  Graph& graph = node.graph;
  const ValueId x = node.tensor(0);
  const auto rank = static_cast<int>(graph.shape(x).size());
  std::vector<int> dims;
  for (int d = rank - static_cast<int>(node.integers(1).size()); d < rank; ++d) dims.push_back(d);
  return {scaled_and_shifted(graph, standardised(graph, x, dims, node.number(4)), optional(node, 2), optional(node, 3))};
}

// (x, normalized_shape, weight, epsilon)
NodeValues read_rms_norm(const NodeReader& node) {
  Graph& graph = node.graph;
  const ValueId x = node.tensor(0);
  const DType dtype = graph.dtype(x);
  const auto rank = static_cast<int>(graph.shape(x).size());
  std::vector<int> dims;
  for (int d = rank - static_cast<int>(node.integers(1).size()); d < rank; ++d) dims.push_back(d);
  // PyTorch's own is of the type that it computes in, which is float32 for 16 bits.
  const double epsilon = node.is_none(3) ? epsilon_of(is_16_bit(dtype) ? DType::f32 : dtype) : node.number(3);
  const ValueId squares = mean_over(graph, graph.pointwise("square", {x}, dtype), dims, true);
  const ValueId scale = graph.pointwise("rsqrt", {arithmetic(graph, "add", squares, graph.constant(epsilon, dtype))}, dtype);
  return {scaled_and_shifted(graph, arithmetic(graph, "mul", x, scale), optional(node, 2), -1)};
}

// (x, groups, weight, bias, epsilon): the channels of a group are a dimension of their own until the end.
NodeValues read_group_norm(const NodeReader& node) {
  Graph& graph = node.graph;
  const ValueId x = node.tensor(0);
  const Shape own = graph.shape(x);
  const std::int64_t groups = node.integer(1);
  Shape split{own[0], groups, own[1] / groups};
  split.insert(split.end(), own.begin() + 2, own.end());
  std::vector<int> dims;
  for (int d = 2; d < static_cast<int>(split.size()); ++d) dims.push_back(d);
  const auto by_group = [&](ValueId vector) {
    if (vector < 0) return vector;
    Shape shape(split.size(), 1);
    shape[1] = groups;
    shape[2] = own[1] / groups;
    return graph.reshape(vector, shape);
  };
  const ValueId standard = standardised(graph, graph.reshape(x, split), dims, node.number(4));
  return {graph.reshape(scaled_and_shifted(graph, standard, by_group(optional(node, 2)), by_group(optional(node, 3))), own)};
}

// x times a factor of each channel plus a term of each channel.
ValueId batch_norm(Graph& graph, ValueId x, ValueId weight, ValueId bias, ValueId mean, ValueId variance, double epsilon) {
  const DType dtype = graph.dtype(x);
  const std::size_t rank = graph.shape(x).size();
  ValueId factor = graph.pointwise("rsqrt", {arithmetic(graph, "add", variance, graph.constant(epsilon, graph.dtype(variance)))});
  if (weight >= 0) factor = arithmetic(graph, "mul", factor, weight);
  const ValueId shift = arithmetic(graph, "mul", mean, factor);
  const ValueId term = bias >= 0 ? arithmetic(graph, "sub", bias, shift) : graph.pointwise("neg", {shift});
  return arithmetic(graph, "add", arithmetic(graph, "mul", x, graph.cast(by_channel(graph, factor, rank), dtype)),
                    graph.cast(by_channel(graph, term, rank), dtype));
}

// (x, weight, bias, mean, variance, training, momentum, epsilon)
NodeValues read_batch_norm(const NodeReader& node) {
  if (node.boolean(5)) throw ReadError{"statistics of a batch in training"};
  return {
      batch_norm(node.graph, node.tensor(0), optional(node, 1), optional(node, 2), node.tensor(3), node.tensor(4), node.number(7))};
}

// _native_batch_norm_legit_no_training: (x, weight, bias, mean, variance, momentum, epsilon)
NodeValues read_native_batch_norm(const NodeReader& node) {
  return {
      batch_norm(node.graph, node.tensor(0), optional(node, 1), optional(node, 2), node.tensor(3), node.tensor(4), node.number(6))};
}

// (x, weight, bias, mean, variance, use_input_stats, momentum, epsilon)
NodeValues read_instance_norm(const NodeReader& node) {
  Graph& graph = node.graph;
  const ValueId x = node.tensor(0);
  if (!node.boolean(5))
    return {batch_norm(graph, x, optional(node, 1), optional(node, 2), node.tensor(3), node.tensor(4), node.number(7))};
  const std::size_t rank = graph.shape(x).size();
  std::vector<int> dims;
  for (int d = 2; d < static_cast<int>(rank); ++d) dims.push_back(d);
  return {scaled_and_shifted(graph, standardised(graph, x, dims, node.number(7)), by_channel(graph, optional(node, 1), rank),
                             by_channel(graph, optional(node, 2), rank))};
}

constexpr OpRow kNormOps[] = {
    {"aten.layer_norm.default", read_layer_norm},
    {"aten.rms_norm.default", read_rms_norm},
    {"aten.group_norm.default", read_group_norm},
    {"aten.batch_norm.default", read_batch_norm},
    {"aten._native_batch_norm_legit_no_training.default", read_native_batch_norm},
    {"aten.instance_norm.default", read_instance_norm},
};

}  // namespace

std::span<const OpRow> norm_ops() { return kNormOps; }

}  // namespace kw
