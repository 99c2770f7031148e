// Pooling: windows of sums and maxima, and what the sums are divided by.
#include <algorithm>

#include "playbook/read.h"
#include "playbook/stage_window.h"

namespace kw {
namespace {

struct Pooling {
  std::vector<WindowDim> dims;  // the pooled ones, outermost first
  Shape outputs;
  bool ceil = false;
};

std::int64_t entry_of(const std::vector<std::int64_t>& list, std::size_t position) {
  return list.size() == 1 ? list[0] : list.at(position);
}

// Arguments: (self, kernel, stride, padding, [dilation,] ceil_mode, ...). An empty stride is the kernel's size.
Pooling pooling_of(const NodeReader& node, std::size_t rank, bool dilated) {
  const Shape& shape = node.graph.shape(node.tensor(0));
  const auto kernel = node.integers(1);
  const auto stride = node.is_none(2) ? kernel : node.integers(2);
  const auto padding = node.is_none(3) ? std::vector<std::int64_t>{0} : node.integers(3);
  const auto dilation = dilated && !node.is_none(4) ? node.integers(4) : std::vector<std::int64_t>{1};
  const std::size_t ceil_at = dilated ? 5 : 4;
  Pooling pooling;
  pooling.ceil = !node.is_none(ceil_at) && node.boolean(ceil_at);
  for (std::size_t d = 0; d < rank; ++d) {
    WindowDim dim;
    dim.size = entry_of(kernel, d);
    dim.stride = stride.empty() ? dim.size : entry_of(stride, d);
    dim.before = entry_of(padding, d);
    dim.dilation = entry_of(dilation, d);
    const std::int64_t inputs = shape[shape.size() - rank + d];
    const std::int64_t room = inputs + 2 * dim.before - dim.dilation * (dim.size - 1) - 1;
    std::int64_t outputs = (room + (pooling.ceil ? dim.stride - 1 : 0)) / dim.stride + 1;
    // A window that would begin in the padding behind the input is left out.
    if (pooling.ceil && (outputs - 1) * dim.stride >= inputs + dim.before) --outputs;
    pooling.dims.push_back(dim);
    pooling.outputs.push_back(outputs);
  }
  return pooling;
}

Pooling adaptive_of(const NodeReader& node, std::size_t rank) {
  const Shape& shape = node.graph.shape(node.tensor(0));
  const Json& sizes = node.argument(1);
  const Json& list = sizes.contains("list") ? sizes.at("list") : sizes;
  const auto wanted = [&](std::size_t d, std::int64_t inputs) {
    const Json& size = list.is_array() ? list.at(list.size() == 1 ? 0 : d) : list;
    return size.contains("const") && size.at("const").is_number_integer() ? size.at("const").get<std::int64_t>() : inputs;
  };
  Pooling pooling;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t inputs = shape[shape.size() - rank + d];
    const std::int64_t outputs = wanted(d, inputs);
    WindowDim dim;
    if (outputs > 0 && inputs % outputs == 0) {
      dim.size = dim.stride = inputs / outputs;
    } else {
      dim.stride = kAdaptive;
      for (std::int64_t o = 0; o < outputs; ++o)
        dim.size = std::max(dim.size, ((o + 1) * inputs - 1) / outputs + 1 - o * inputs / outputs);
    }
    pooling.dims.push_back(dim);
    pooling.outputs.push_back(outputs);
  }
  return pooling;
}

ValueId windows(Graph& graph, const std::string& fn, ValueId operand, const Pooling& pooling) {
  const Shape inputs = graph.shape(operand);
  const std::size_t ahead = inputs.size() - pooling.dims.size();
  bool global = true;
  std::vector<int> pooled;
  for (std::size_t d = 0; d < pooling.dims.size(); ++d) {
    const WindowDim& dim = pooling.dims[d];
    global = global && pooling.outputs[d] == 1 && dim.before == 0 && dim.dilation == 1 && dim.size == inputs[ahead + d];
    pooled.push_back(static_cast<int>(ahead + d));
  }
  if (global) return fn == "sum" ? sum_over(graph, operand, pooled, true) : graph.reduce(fn, operand, pooled, true);
  Value value{.kind = ValueKind::window, .dtype = graph.dtype(operand), .shape = inputs, .operands = {operand}};
  std::ranges::copy(pooling.outputs, value.shape.begin() + static_cast<std::ptrdiff_t>(ahead));
  value.fn = fn;
  value.window.resize(ahead);
  value.window.insert(value.window.end(), pooling.dims.begin(), pooling.dims.end());
  return graph.add(std::move(value));
}

// How many elements the mean of each window is over, in one dimension.
std::vector<double> counts(const WindowDim& dim, std::int64_t inputs, std::int64_t outputs, bool with_padding) {
  std::vector<double> result;
  for (std::int64_t o = 0; o < outputs; ++o) {
    if (is_adaptive(dim)) {
      const std::int64_t begin = o * inputs / outputs, end = ((o + 1) * inputs - 1) / outputs + 1;
      result.push_back(static_cast<double>(end - begin));
      continue;
    }
    const std::int64_t begin = o * dim.stride - dim.before;
    const std::int64_t end = std::min(begin + dim.size, inputs + dim.before);
    result.push_back(static_cast<double>(with_padding ? end - begin : std::min(end, inputs) - std::max<std::int64_t>(begin, 0)));
  }
  return result;
}

ValueId means(const NodeReader& node, const Pooling& pooling, bool with_padding) {
  Graph& graph = node.graph;
  const ValueId operand = node.tensor(0);
  const DType dtype = graph.dtype(operand);
  const ValueId sums = windows(graph, "sum", operand, pooling);
  const Shape inputs = graph.shape(operand);
  const std::size_t ahead = inputs.size() - pooling.dims.size();
  double even = 1;
  ValueId uneven = -1;
  for (std::size_t d = 0; d < pooling.dims.size(); ++d) {
    const auto own = counts(pooling.dims[d], inputs[ahead + d], pooling.outputs[d], with_padding);
    if (std::ranges::all_of(own, [&](double count) { return count == own[0]; })) {
      even *= own.empty() ? 1 : own[0];
      continue;
    }
    Shape along(inputs.size(), 1);
    along[ahead + d] = pooling.outputs[d];
    Value table{.kind = ValueKind::table, .dtype = dtype, .shape = along};
    table.numbers = own;
    const ValueId made = graph.add(std::move(table));
    uneven = uneven < 0 ? made : graph.pointwise("mul", {uneven, made}, dtype);
  }
  ValueId divisor = graph.constant(even, dtype);
  if (uneven >= 0) divisor = graph.pointwise("mul", {uneven, divisor}, dtype);
  return graph.pointwise("div", {sums, divisor}, dtype);
}

// Only the values: positions of maxima are for unpooling.
template <int rank>
NodeValues read_max_pool(const NodeReader& node) {
  return {windows(node.graph, "max", node.tensor(0), pooling_of(node, rank, true))};
}

template <int rank>
NodeValues read_avg_pool(const NodeReader& node) {
  const Pooling pooling = pooling_of(node, rank, false);
  if (rank > 1 && !node.is_none(6)) {
    const ValueId sums = windows(node.graph, "sum", node.tensor(0), pooling);
    const DType dtype = node.graph.dtype(sums);
    return {node.graph.pointwise("div", {sums, node.graph.constant(node.number(6), dtype)}, dtype)};
  }
  return {means(node, pooling, node.is_none(5) || node.boolean(5))};
}

template <int rank>
NodeValues read_adaptive_avg(const NodeReader& node) {
  return {means(node, adaptive_of(node, rank), false)};
}

template <int rank>
NodeValues read_adaptive_max(const NodeReader& node) {
  return {windows(node.graph, "max", node.tensor(0), adaptive_of(node, rank))};
}

constexpr OpRow kWindowOps[] = {
    {"aten.max_pool1d.default", read_max_pool<1>},
    {"aten.max_pool2d.default", read_max_pool<2>},
    {"aten.max_pool3d.default", read_max_pool<3>},
    {"aten.max_pool1d_with_indices.default", read_max_pool<1>},
    {"aten.max_pool2d_with_indices.default", read_max_pool<2>},
    {"aten.max_pool3d_with_indices.default", read_max_pool<3>},
    {"aten.avg_pool1d.default", read_avg_pool<1>},
    {"aten.avg_pool2d.default", read_avg_pool<2>},
    {"aten.avg_pool3d.default", read_avg_pool<3>},
    {"aten.adaptive_avg_pool1d.default", read_adaptive_avg<1>},
    {"aten.adaptive_avg_pool2d.default", read_adaptive_avg<2>},
    {"aten.adaptive_avg_pool3d.default", read_adaptive_avg<3>},
    {"aten._adaptive_avg_pool2d.default", read_adaptive_avg<2>},
    {"aten._adaptive_avg_pool3d.default", read_adaptive_avg<3>},
    {"aten.adaptive_max_pool1d.default", read_adaptive_max<1>},
    {"aten.adaptive_max_pool2d.default", read_adaptive_max<2>},
    {"aten.adaptive_max_pool3d.default", read_adaptive_max<3>},
};

}  // namespace

InteriorOutputs interior_outputs(const WindowDim& dim, std::int64_t inputs, std::int64_t outputs) {
  if (is_adaptive(dim)) return {0, outputs};
  const std::int64_t begin = std::min((dim.before + dim.stride - 1) / dim.stride, outputs);
  const std::int64_t room = inputs - 1 - (dim.size - 1) * dim.dilation + dim.before;
  const std::int64_t end = room < 0 ? 0 : std::min(room / dim.stride + 1, outputs);
  return {begin, std::max(begin, end)};
}

std::span<const OpRow> window_ops() { return kWindowOps; }

}  // namespace kw
