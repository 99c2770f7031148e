// Whole recurrent layers: what the inputs give to all steps is one product, and the steps are one value (recurrence) for each layer
// and direction.
#include <fmt/format.h>

#include "playbook/read.h"
#include "playbook/stage_scan.h"

namespace kw {
namespace {

struct Layers {
  std::vector<ValueId> weights;
  std::size_t each = 2;  // tensors of one layer and direction
  std::int64_t count = 1;
  int directions = 1;
  bool batch_first = false;
};

// The arguments behind the states, from `first` on: params, has_biases, num_layers, dropout, train, bidirectional, batch_first.
Layers layers_of(const NodeReader& node, std::size_t first) {
  Layers layers;
  layers.weights = node.tensors(first);
  layers.each = node.boolean(first + 1) ? 4 : 2;
  layers.count = node.integer(first + 2);
  layers.directions = node.boolean(first + 5) ? 2 : 1;
  layers.batch_first = node.boolean(first + 6);
  if (node.boolean(first + 4) && node.number(first + 3) > 0) throw ReadError{"it drops random elements"};
  if (layers.weights.size() != layers.each * static_cast<std::size_t>(layers.count * layers.directions))
    throw ReadError{"it has weights of another kind, such as projections"};
  return layers;
}

// What a step of one layer, in one direction, makes of the sequence x [T, N, I]: its states [T, N, H], for an LSTM also [T + 1, N,
// H] with the last cell behind them.
ValueId steps_of(Graph& graph, const char* fn, ValueId x, const Layers& layers, std::size_t number, ValueId state, ValueId cell) {
  const std::size_t at = number * layers.each;
  const ValueId weight = layers.weights[at];
  const Shape in = graph.shape(x);
  const std::int64_t gates = graph.shape(weight)[0];
  const ValueId right = graph.reshape(graph.permute(weight, {1, 0}), {1, in[2], gates});
  ValueId given = graph.product(graph.reshape(x, {1, in[0] * in[1], in[2]}), right);
  if (layers.each == 4) given = graph.pointwise("add", {given, layers.weights[at + 2]});
  Value steps;
  steps.kind = ValueKind::recurrence;
  steps.dtype = graph.dtype(x);
  steps.fn = fn;
  steps.number = number % static_cast<std::size_t>(layers.directions) == 1 ? kScanFromTheEnd : 0;
  steps.operands = {graph.reshape(given, {in[0], in[1], gates}), state, layers.weights[at + 1]};
  steps.operands.push_back(layers.each == 4 ? layers.weights[at + 3] : graph.expand(graph.constant(0, steps.dtype), {gates}));
  if (cell >= 0) steps.operands.push_back(cell);
  steps.shape = {in[0] + (cell >= 0 ? 1 : 0), in[1], graph.shape(state)[1]};
  return graph.add(std::move(steps));
}

ValueId joined(Graph& graph, const std::vector<ValueId>& parts, int dim) {
  if (parts.size() == 1) return parts[0];
  Value value;
  value.kind = ValueKind::concat;
  value.dtype = graph.dtype(parts[0]);
  value.shape = graph.shape(parts[0]);
  value.shape[static_cast<std::size_t>(dim)] = 0;
  for (const ValueId part : parts) value.shape[static_cast<std::size_t>(dim)] += graph.shape(part)[static_cast<std::size_t>(dim)];
  value.operands = parts;
  value.dims = {dim};
  return graph.add(std::move(value));
}

// All layers: the last one's states, then the last states (and cells) of each layer and direction.
NodeValues read_layers(const NodeReader& node, const char* fn, const Layers& layers, ValueId states, ValueId cells) {
  Graph& graph = node.graph;
  ValueId x = node.tensor(0);
  if (graph.shape(x).size() != 3) throw ReadError{"its input has no batch"};
  if (graph.dtype(x) != DType::f32) throw ReadError{"it computes with other numbers than float32"};
  if (layers.batch_first) x = graph.permute(x, {1, 0, 2});
  const std::int64_t length = graph.shape(x)[0];
  if (length == 0) throw ReadError{"its sequence is empty"};
  std::vector<ValueId> last_states, last_cells;
  for (std::int64_t layer = 0; layer < layers.count; ++layer) {
    std::vector<ValueId> sides;
    for (int side = 0; side < layers.directions; ++side) {
      const std::int64_t number = layer * layers.directions + side;
      const ValueId cell = cells < 0 ? -1 : graph.select(cells, 0, number);
      const ValueId steps = steps_of(graph, fn, x, layers, static_cast<std::size_t>(number), graph.select(states, 0, number), cell);
      sides.push_back(graph.slice(steps, 0, 0, length));
      last_states.push_back(graph.slice(steps, 0, side == 0 ? length - 1 : 0, 1));
      if (cells >= 0) last_cells.push_back(graph.slice(steps, 0, length, 1));
    }
    x = joined(graph, sides, 2);
  }
  NodeValues results{layers.batch_first ? graph.permute(x, {1, 0, 2}) : x, joined(graph, last_states, 0)};
  if (cells >= 0) results.push_back(joined(graph, last_cells, 0));
  return results;
}

NodeValues read_lstm(const NodeReader& node) {
  const auto state = node.tensors(1);
  return read_layers(node, "lstm", layers_of(node, 2), state[0], state[1]);
}
NodeValues read_gru(const NodeReader& node) { return read_layers(node, "gru", layers_of(node, 2), node.tensor(1), -1); }
NodeValues read_rnn_tanh(const NodeReader& node) { return read_layers(node, "tanh", layers_of(node, 2), node.tensor(1), -1); }
NodeValues read_rnn_relu(const NodeReader& node) { return read_layers(node, "relu", layers_of(node, 2), node.tensor(1), -1); }

constexpr OpRow kRecurrentOps[] = {
    {"aten.lstm.input", read_lstm},
    {"aten.gru.input", read_gru},
    {"aten.rnn_tanh.input", read_rnn_tanh},
    {"aten.rnn_relu.input", read_rnn_relu},
};

}  // namespace

std::span<const OpRow> recurrent_ops() { return kRecurrentOps; }

}  // namespace kw
