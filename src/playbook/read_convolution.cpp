// Convolutions of one to three dimensions, transposed or not, as sums over windows; those of single pixels are products.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/read.h"

namespace kw {
namespace {

// The arguments behind (input, weight, bias), one entry for each spatial dimension.
struct ConvolutionArguments {
  std::vector<std::int64_t> stride;
  std::vector<std::int64_t> before;
  std::vector<std::int64_t> dilation;
  std::int64_t groups = 1;
  bool transposed = false;
};

std::vector<std::int64_t> spread(std::vector<std::int64_t> list, std::size_t rank, std::int64_t standard) {
  if (list.empty()) return std::vector<std::int64_t>(rank, standard);
  if (list.size() == 1) return std::vector<std::int64_t>(rank, list[0]);
  if (list.size() != rank) throw ReadError{fmt::format("{} numbers for {} dimensions", list.size(), rank)};
  return list;
}

std::vector<std::int64_t> list_at(const NodeReader& node, std::size_t position, std::size_t rank, std::int64_t standard) {
  return spread(node.is_none(position) ? std::vector<std::int64_t>{} : node.integers(position), rank, standard);
}

// "valid" and "same": as many outputs as inputs; of an odd amount of padding the larger part is behind.
std::vector<std::int64_t> named_padding(const std::string& name, const Shape& weight, const std::vector<std::int64_t>& dilation) {
  std::vector<std::int64_t> before(dilation.size(), 0);
  if (name == "valid") return before;
  if (name != "same") throw ReadError{fmt::format("padding '{}'", name)};
  for (std::size_t d = 0; d < before.size(); ++d) before[d] = dilation[d] * (weight[d + 2] - 1) / 2;
  return before;
}

// (input, weight, bias, stride, padding, dilation, groups)
ConvolutionArguments plain_arguments(const NodeReader& node, std::size_t rank) {
  ConvolutionArguments arguments;
  arguments.stride = list_at(node, 3, rank, 1);
  arguments.dilation = list_at(node, 5, rank, 1);
  arguments.before = node.op().ends_with(".padding")
                         ? named_padding(node.string(4), node.graph.shape(node.tensor(1)), arguments.dilation)
                         : list_at(node, 4, rank, 0);
  arguments.groups = node.is_none(6) ? 1 : node.integer(6);
  return arguments;
}

// (input, weight, bias, stride, padding, output_padding, groups, dilation); the output's padding is seen in its shape.
ConvolutionArguments transposed_arguments(const NodeReader& node, std::size_t rank) {
  ConvolutionArguments arguments;
  arguments.transposed = true;
  arguments.stride = list_at(node, 3, rank, 1);
  arguments.before = list_at(node, 4, rank, 0);
  arguments.groups = node.is_none(6) ? 1 : node.integer(6);
  arguments.dilation = list_at(node, 7, rank, 1);
  return arguments;
}

// (input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
ConvolutionArguments general_arguments(const NodeReader& node, std::size_t rank) {
  ConvolutionArguments arguments;
  arguments.stride = list_at(node, 3, rank, 1);
  arguments.before = list_at(node, 4, rank, 0);
  arguments.dilation = list_at(node, 5, rank, 1);
  arguments.transposed = node.boolean(6);
  arguments.groups = node.integer(8);
  return arguments;
}

// Weights [C, O / groups, ...] as [O, C / groups, ...], each window turned round.
ValueId turned_weights(Graph& graph, ValueId weight, std::int64_t groups) {
  Shape shape = graph.shape(weight);
  const std::int64_t inputs = shape[0] / groups, outputs = shape[1];
  for (int d = 2; d < static_cast<int>(shape.size()); ++d) weight = graph.flip(weight, d);
  shape.insert(shape.begin(), groups);
  shape[1] = inputs;
  std::vector<int> order{0, 2, 1};
  for (int d = 3; d < static_cast<int>(shape.size()); ++d) order.push_back(d);
  const ValueId exchanged = graph.permute(graph.reshape(weight, shape), order);
  Shape result = graph.shape(exchanged);
  result.erase(result.begin());
  result[0] = groups * outputs;
  return graph.reshape(exchanged, result);
}

// Zeros that were put around the input belong to the window.
ValueId without_padding(const Graph& graph, ValueId input, std::vector<WindowDim>& window) {
  const Value& value = graph.at(input);
  if (value.kind != ValueKind::pad) return input;
  const Value& fill = graph.at(value.operands[1]);
  if (fill.kind != ValueKind::constant || fill.number != 0) return input;
  const Shape& inner = graph.shape(value.operands[0]);
  for (std::size_t d = 0; d < 2; ++d)
    if (inner[d] != value.shape[d]) return input;
  for (std::size_t d = 0; d < window.size(); ++d)
    if (window[d].up != 1 && inner[d + 2] != value.shape[d + 2]) return input;
  for (std::size_t d = 0; d < window.size(); ++d) window[d].before += value.before[d + 2];
  return value.operands[0];
}

bool is_single_pixel(const WindowDim& dim) { return dim.size == 1 && dim.stride == 1 && dim.before == 0 && dim.up == 1; }

// Every output pixel is a product of the weights with the input pixel.
ValueId pixels_product(Graph& graph, ValueId input, ValueId weight, const Shape& shape) {
  const std::int64_t batch = shape[0], inputs = graph.shape(weight)[1], outputs = shape[1];
  const std::int64_t pixels = numel({shape.begin() + 2, shape.end()});
  const ValueId factors = graph.expand(graph.reshape(weight, {1, outputs, inputs}), {batch, outputs, inputs});
  return graph.reshape(graph.product(factors, graph.reshape(input, {batch, inputs, pixels})), shape);
}

ValueId convolution_values(const NodeReader& node, const ConvolutionArguments& arguments) {
  Graph& graph = node.graph;
  ValueId input = node.tensor(0);
  ValueId weight = node.tensor(1);
  Shape shape = node.shape();
  const bool single = graph.shape(input).size() + 1 == graph.shape(weight).size();  // an image without a batch
  if (single) {
    input = graph.unsqueeze(input, 0);
    shape.insert(shape.begin(), 1);
  }
  std::vector<WindowDim> window;
  for (std::size_t d = 0; d < arguments.stride.size(); ++d) {
    const std::int64_t size = graph.shape(weight)[d + 2];
    WindowDim dim{.size = size, .stride = arguments.stride[d], .before = arguments.before[d], .dilation = arguments.dilation[d]};
    if (arguments.transposed) {
      dim.up = dim.stride;
      dim.stride = 1;
      dim.before = dim.dilation * (size - 1) - dim.before;
    }
    window.push_back(dim);
  }
  if (arguments.transposed) weight = turned_weights(graph, weight, arguments.groups);
  input = without_padding(graph, input, window);
  const bool pixels = arguments.groups == 1 && std::ranges::all_of(window, is_single_pixel) &&
                      std::equal(shape.begin() + 2, shape.end(), graph.shape(input).begin() + 2);
  ValueId result =
      pixels ? pixels_product(graph, input, weight, shape) : graph.convolution(input, weight, shape, window, arguments.groups);
  if (!node.is_none(2)) {
    Shape along(shape.size(), 1);
    along[1] = shape[1];
    result = graph.pointwise("add", {result, graph.reshape(node.tensor(2), along)});
  }
  return single ? graph.reshape(result, node.shape()) : result;
}

std::size_t spatial_rank(const NodeReader& node) { return node.graph.shape(node.tensor(1)).size() - 2; }

NodeValues read_plain(const NodeReader& node) { return {convolution_values(node, plain_arguments(node, spatial_rank(node)))}; }
NodeValues read_transposed(const NodeReader& node) {
  return {convolution_values(node, transposed_arguments(node, spatial_rank(node)))};
}
NodeValues read_general(const NodeReader& node) { return {convolution_values(node, general_arguments(node, spatial_rank(node)))}; }

constexpr OpRow kConvolutionOps[] = {
    {"aten.conv1d.default", read_plain},
    {"aten.conv2d.default", read_plain},
    {"aten.conv3d.default", read_plain},
    {"aten.conv1d.padding", read_plain},
    {"aten.conv2d.padding", read_plain},
    {"aten.conv3d.padding", read_plain},
    {"aten.conv_transpose1d.default", read_transposed},
    {"aten.conv_transpose2d.input", read_transposed},
    {"aten.conv_transpose3d.input", read_transposed},
    {"aten.convolution.default", read_general},
};

}  // namespace

std::span<const OpRow> convolution_ops() { return kConvolutionOps; }

}  // namespace kw
