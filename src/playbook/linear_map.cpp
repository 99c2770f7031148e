#include "playbook/linear_map.h"

#include <algorithm>
#include <numeric>

#include "playbook/narrow_weights.h"
#include "playbook/stage_window.h"

namespace kw {
namespace {

constexpr std::int64_t kLargestTable = 16384;  // numbers that the text of a kernel may have

using Matrix = std::vector<std::vector<double>>;  // [from][to]

ValueId table_of(Graph& graph, const Matrix& matrix) {
  const auto rows = static_cast<std::int64_t>(matrix.size());
  Value table{.kind = ValueKind::table, .dtype = DType::f32, .shape = {1, rows, static_cast<std::int64_t>(matrix[0].size())}};
  for (const auto& row : matrix) table.numbers.insert(table.numbers.end(), row.begin(), row.end());
  return graph.add(std::move(table));
}

Matrix transposed(const Matrix& matrix) {
  Matrix turned(matrix[0].size(), std::vector<double>(matrix.size()));
  for (std::size_t r = 0; r < matrix.size(); ++r)
    for (std::size_t c = 0; c < matrix[r].size(); ++c) turned[c][r] = matrix[r][c];
  return turned;
}

// Both, on the mixed positions of two dimensions.
Matrix on_both(const Matrix& a, const Matrix& b) {
  Matrix mixed(a.size() * b.size(), std::vector<double>(a[0].size() * b[0].size()));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j)
      for (std::size_t k = 0; k < a[i].size(); ++k)
        for (std::size_t l = 0; l < b[j].size(); ++l) mixed[i * b.size() + j][k * b[j].size() + l] = a[i][k] * b[j][l];
  return mixed;
}

Matrix identity(std::int64_t size) {
  const auto count = static_cast<std::size_t>(size);
  Matrix matrix(count, std::vector<double>(count));
  for (std::size_t i = 0; i < count; ++i) matrix[i][i] = 1;
  return matrix;
}

std::int64_t remainder(std::int64_t a, std::int64_t b) { return (a % b + b) % b; }

// The window of the weights [O, C, ...] as one dimension, times a matrix, in a new shape behind the channels.
ValueId window_times(Graph& graph, ValueId weights, const Matrix& matrix, const Shape& window) {
  const Shape shape = graph.shape(weights);
  const ValueId flat = graph.reshape(weights, {1, shape[0] * shape[1], static_cast<std::int64_t>(matrix.size())});
  Shape result{shape[0], shape[1]};
  result.insert(result.end(), window.begin(), window.end());
  return graph.reshape(graph.product(flat, table_of(graph, matrix)), result);
}

// Which inputs a tap of the window meets over all outputs of a dimension: how often each of them.
Matrix inputs_of_taps(const WindowDim& window, std::int64_t inputs, std::int64_t outputs) {
  Matrix met(static_cast<std::size_t>(window.size), std::vector<double>(static_cast<std::size_t>(inputs)));
  for (std::int64_t k = 0; k < window.size; ++k)
    for (std::int64_t o = 0; o < outputs; ++o) {
      const std::int64_t place = o * window.stride - window.before + k * window.dilation;
      if (remainder(place, window.up) != 0) continue;
      const std::int64_t at = place / window.up;
      if (place >= 0 && at < inputs) met[static_cast<std::size_t>(k)][static_cast<std::size_t>(at)] += 1;
    }
  return met;
}

// Sums of a dimension's inputs, one for each different set of inputs that taps meet; and which tap has which.
struct SummedInputs {
  Matrix sets;  // [set][input]
  Matrix taps;  // [tap][set]
  [[nodiscard]] bool is_plain() const {
    return sets.size() == 1 && std::ranges::all_of(sets[0], [](double often) { return often == 1; });
  }
};

SummedInputs summed_inputs(const WindowDim& window, std::int64_t inputs, std::int64_t outputs) {
  SummedInputs result;
  std::vector<std::size_t> set_of;
  for (const auto& row : inputs_of_taps(window, inputs, outputs)) {
    const auto found = std::ranges::find(result.sets, row);
    set_of.push_back(static_cast<std::size_t>(found - result.sets.begin()));
    if (found == result.sets.end()) result.sets.push_back(row);
  }
  result.taps.assign(set_of.size(), std::vector<double>(result.sets.size()));
  for (std::size_t tap = 0; tap < set_of.size(); ++tap) result.taps[tap][set_of[tap]] = 1;
  return result;
}

// A dimension of a value times [set][input]: the sets are in its place.
ValueId dimension_times(Graph& graph, ValueId value, std::size_t dim, const SummedInputs& sums) {
  if (sums.is_plain()) return graph.reduce("sum", value, {static_cast<int>(dim)}, true);
  Shape shape = graph.shape(value);
  const std::int64_t before = numel({shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(dim)});
  const std::int64_t behind = numel({shape.begin() + static_cast<std::ptrdiff_t>(dim) + 1, shape.end()});
  const auto sets = static_cast<std::int64_t>(sums.sets.size());
  ValueId result = -1;
  if (behind == 1) {
    result = graph.product(graph.reshape(value, {1, before, shape[dim]}), table_of(graph, transposed(sums.sets)));
  } else {
    const ValueId table = graph.expand(table_of(graph, sums.sets), {before, sets, shape[dim]});
    result = graph.product(table, graph.reshape(value, {before, shape[dim], behind}));
  }
  shape[dim] = sets;
  return graph.reshape(result, shape);
}

// The taps of a convolution followed by a sum over a window of its outputs, for inputs without gaps.
struct PooledDim {
  WindowDim window;
  Matrix taps;  // [old tap][new tap]
};

std::optional<PooledDim> pooled_dim(const WindowDim& window, const WindowDim& pool, std::int64_t outputs, std::int64_t pooled) {
  const bool inside =
      pool.before == 0 && !is_adaptive(pool) && (pooled - 1) * pool.stride + (pool.size - 1) * pool.dilation < outputs;
  const std::int64_t stride = pool.stride * window.stride;
  if (!inside || pool.up != 1 || stride % window.up != 0) return std::nullopt;
  // Output q reads the places q * stride - before + m; those with an input are `up` apart, from `first` on.
  const std::int64_t first = remainder(window.before, window.up);
  const std::int64_t last = (pool.size - 1) * pool.dilation * window.stride + (window.size - 1) * window.dilation;
  if (last < first) return std::nullopt;
  PooledDim result;
  result.window.size = (last - first) / window.up + 1;
  result.window.stride = stride / window.up;
  result.window.before = (window.before - first) / window.up;
  result.taps.assign(static_cast<std::size_t>(window.size), std::vector<double>(static_cast<std::size_t>(result.window.size)));
  for (std::int64_t k = 0; k < window.size; ++k)
    for (std::int64_t j = 0; j < pool.size; ++j) {
      const std::int64_t place = j * pool.dilation * window.stride + k * window.dilation - first;
      if (place >= 0 && place % window.up == 0)
        result.taps[static_cast<std::size_t>(k)][static_cast<std::size_t>(place / window.up)] += 1;
    }
  return result;
}

}  // namespace

std::optional<LinearMap> linear_map(const Graph& graph, ValueId id, bool left_is_parameter, bool right_is_parameter) {
  const Value& value = graph.at(id);
  if (value.dtype != DType::f32 || left_is_parameter == right_is_parameter) return std::nullopt;
  for (const ValueId operand : value.operands)
    if (graph.dtype(operand) != DType::f32) return std::nullopt;
  if (lies_narrow(graph, value.operands[left_is_parameter ? 0 : 1])) return std::nullopt;  // other weights would be floats
  LinearMap map{.value = id};
  if (value.kind == ValueKind::convolution && right_is_parameter) {
    map.channel = 1;
    map.weight_channel = 0;
  } else if (value.kind == ValueKind::product) {
    map.own = left_is_parameter ? 0 : 1;
    map.channel = map.weight_channel = left_is_parameter ? 1 : 2;
  } else {
    return std::nullopt;
  }
  map.features = value.shape[static_cast<std::size_t>(map.channel)];
  return map;
}

ValueId weights_of(Graph& graph, const LinearMap& map) {
  const ValueId weights = graph.at(map.value).operands[map.own];
  const Value& value = graph.at(weights);
  if (graph.at(map.value).kind != ValueKind::product || value.kind != ValueKind::view || value.shape[0] == 1) return weights;
  const bool repeated = std::ranges::none_of(value.map, [](const DimMap& dim) { return dim.out_dim == 0; });
  return repeated ? graph.slice(weights, 0, 0, 1) : weights;
}

ValueId map_with(Graph& graph, const LinearMap& map, ValueId weights) {
  const Value& value = graph.at(map.value);
  if (value.kind == ValueKind::convolution)
    return graph.convolution(value.operands[0], weights, value.shape, value.window, value.groups);
  Shape shape = graph.shape(weights);
  shape[0] = value.shape[0];
  weights = graph.expand(weights, shape);
  return map.own == 0 ? graph.product(weights, value.operands[1]) : graph.product(value.operands[0], weights);
}

ValueId along(Graph& graph, ValueId vector, int dim, const Shape& shape) {
  if (graph.shape(vector)[0] == 1) return graph.view(vector, shape, {DimMap{}});
  return graph.view(vector, shape, {DimMap{dim, 1, 0}});
}

ValueId summed_weights(Graph& graph, const LinearMap& map, ValueId weights) {
  return graph.reduce("sum", weights, {map.weight_channel}, true);
}

ValueId windowed_weights(Graph& graph, const LinearMap& map, ValueId weights, const WindowDim& window, std::int64_t outputs) {
  Value value{.kind = ValueKind::window, .dtype = DType::f32, .shape = graph.shape(weights), .operands = {weights}};
  const auto dim = static_cast<std::size_t>(map.weight_channel);
  value.shape[dim] = outputs;
  value.fn = "sum";
  value.window.resize(value.shape.size());
  value.window[dim] = window;
  return graph.add(std::move(value));
}

double operations_of(const Graph& graph, ValueId id) {
  const Value& value = graph.at(id);
  auto count = static_cast<double>(numel(value.shape));
  if (value.kind == ValueKind::product) return count * static_cast<double>(graph.shape(value.operands[0])[2]);
  count *= static_cast<double>(graph.shape(value.operands[1])[1]);
  for (const auto& dim : value.window) count *= static_cast<double>(dim.size) / static_cast<double>(dim.up);
  return count;
}

std::optional<Shorter> summed_convolution(Graph& graph, const LinearMap& map, const std::vector<bool>& summed) {
  const Value value = graph.at(map.value);
  if (value.kind != ValueKind::convolution || value.groups != 1) return std::nullopt;
  const ValueId weights = value.operands[1];
  const Shape inputs = graph.shape(value.operands[0]);
  ValueId input = value.operands[0];
  Matrix taps{{1}};
  std::int64_t sets = 1;
  Shape kept_window, kept_outputs, kept_inputs;
  std::vector<WindowDim> window;
  std::vector<int> order{0, 1};
  Shorter result;
  for (std::size_t d = 0; d < summed.size(); ++d)
    if (summed[d]) order.push_back(static_cast<int>(d) + 2);
  for (std::size_t d = 0; d < summed.size(); ++d)
    if (!summed[d]) order.push_back(static_cast<int>(d) + 2);
  // The window's positions in the order of its dimensions; then the sums' before the taps that are left.
  Matrix of_kept{{1}};
  std::vector<SummedInputs> sums(summed.size());
  for (std::size_t d = summed.size(); d-- > 0;) {  // the last dimension first: what is read then is in order
    if (!summed[d]) continue;
    sums[d] = summed_inputs(value.window[d], inputs[d + 2], value.shape[d + 2]);
    result.operations += static_cast<double>(numel(graph.shape(input)) * static_cast<std::int64_t>(sums[d].sets.size()));
    input = dimension_times(graph, input, d + 2, sums[d]);
    result.positions *= static_cast<double>(value.shape[d + 2]);
  }
  for (std::size_t d = 0; d < summed.size(); ++d) {
    if (summed[d]) {
      taps = on_both(taps, sums[d].taps);
      sets *= static_cast<std::int64_t>(sums[d].sets.size());
    } else {
      of_kept = on_both(of_kept, identity(value.window[d].size));
      window.push_back(value.window[d]);
      kept_window.push_back(value.window[d].size);
      kept_outputs.push_back(value.shape[d + 2]);
      kept_inputs.push_back(inputs[d + 2]);
    }
  }
  const Matrix all = on_both(taps, of_kept);
  if (static_cast<std::int64_t>(all.size() * all[0].size()) > kLargestTable) return std::nullopt;
  Shape with_sets{sets};
  with_sets.insert(with_sets.end(), kept_window.begin(), kept_window.end());
  result.weights = window_times(graph, graph.permute(weights, order), all, with_sets);
  Shape input_shape{inputs[0], inputs[1] * sets};
  const ValueId ordered = graph.permute(input, order);
  if (window.empty()) {
    const ValueId left = graph.reshape(ordered, {1, inputs[0], inputs[1] * sets});
    const ValueId flat = graph.reshape(result.weights, {1, map.features, inputs[1] * sets});
    result.weights = graph.permute(flat, {0, 2, 1});
    result.value = graph.product(left, result.weights);
  } else {
    input_shape.insert(input_shape.end(), kept_inputs.begin(), kept_inputs.end());
    Shape weight_shape{map.features, inputs[1] * sets};
    weight_shape.insert(weight_shape.end(), kept_window.begin(), kept_window.end());
    result.weights = graph.reshape(result.weights, weight_shape);
    Shape shape{value.shape[0], value.shape[1]};
    shape.insert(shape.end(), kept_outputs.begin(), kept_outputs.end());
    result.value = graph.convolution(graph.reshape(ordered, input_shape), result.weights, shape, window, 1);
  }
  result.operations += operations_of(graph, result.value);
  return result;
}

std::optional<Shorter> pooled_convolution(Graph& graph, const LinearMap& map, const std::vector<WindowDim>& pool,
                                          const Shape& outputs) {
  const Value value = graph.at(map.value);
  if (value.kind != ValueKind::convolution) return std::nullopt;
  Matrix taps{{1}};
  Shape size, shape{value.shape[0], value.shape[1]};
  std::vector<WindowDim> window;
  Shorter result;
  for (std::size_t d = 0; d < value.window.size(); ++d) {
    const auto pooled = pooled_dim(value.window[d], pool[d], value.shape[d + 2], outputs[d]);
    if (!pooled) return std::nullopt;
    taps = on_both(taps, pooled->taps);
    window.push_back(pooled->window);
    size.push_back(pooled->window.size);
    shape.push_back(outputs[d]);
    result.positions *= static_cast<double>(pool[d].size);
  }
  if (static_cast<std::int64_t>(taps.size() * taps[0].size()) > kLargestTable) return std::nullopt;
  result.weights = window_times(graph, value.operands[1], taps, size);
  result.value = graph.convolution(value.operands[0], result.weights, shape, window, value.groups);
  result.operations = operations_of(graph, result.value);
  return result;
}

}  // namespace kw
