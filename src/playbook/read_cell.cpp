// Cells of recurrent layers: one step, as products and what the gates make of them.
#include "playbook/read.h"

namespace kw {
namespace {

ValueId transposed(Graph& graph, ValueId matrix) { return graph.permute(matrix, {1, 0}); }

// x [N, I] times weight [G, I], plus a bias where there is one: [N, G].
ValueId projected(Graph& graph, ValueId x, ValueId weight, ValueId bias) {
  const Shape in = graph.shape(x);
  const Shape out = graph.shape(weight);
  const ValueId right = graph.reshape(transposed(graph, weight), {1, out[1], out[0]});
  const ValueId sum = graph.reshape(graph.product(graph.reshape(x, {1, in[0], in[1]}), right), {in[0], out[0]});
  return bias < 0 ? sum : graph.pointwise("add", {sum, bias});
}

struct CellTerms {
  Graph& graph;
  DType dtype;
  [[nodiscard]] ValueId one(const char* fn, ValueId a) const { return graph.pointwise(fn, {a}, dtype); }
  [[nodiscard]] ValueId two(const char* fn, ValueId a, ValueId b) const { return graph.pointwise(fn, {a, b}, dtype); }
  // The part of one gate, of `gates` side by side.
  [[nodiscard]] ValueId gate(ValueId all, std::int64_t number, std::int64_t gates) const {
    const std::int64_t size = graph.shape(all)[1] / gates;
    return graph.slice(all, 1, number * size, size);
  }
};

// A single sample has one dimension less.
ValueId as_batch(Graph& graph, ValueId x) { return graph.shape(x).size() == 1 ? graph.unsqueeze(x, 0) : x; }
ValueId bias_at(const NodeReader& node, std::size_t position) { return node.is_none(position) ? -1 : node.tensor(position); }

// (input, [hidden, cell], weight_ih, weight_hh, bias_ih, bias_hh); gates: in, forget, candidate, out.
NodeValues read_lstm_cell(const NodeReader& node) {
  Graph& graph = node.graph;
  const CellTerms t{graph, graph.dtype(node.tensor(0))};
  const auto state = node.tensors(1);
  const ValueId gates = t.two("add", projected(graph, as_batch(graph, node.tensor(0)), node.tensor(2), bias_at(node, 4)),
                              projected(graph, as_batch(graph, state[0]), node.tensor(3), bias_at(node, 5)));
  const ValueId kept = t.two("mul", t.one("sigmoid", t.gate(gates, 1, 4)), as_batch(graph, state[1]));
  const ValueId added = t.two("mul", t.one("sigmoid", t.gate(gates, 0, 4)), t.one("tanh", t.gate(gates, 2, 4)));
  const ValueId cell = t.two("add", kept, added);
  const ValueId hidden = t.two("mul", t.one("sigmoid", t.gate(gates, 3, 4)), t.one("tanh", cell));
  const Shape shape = graph.shape(state[0]);
  return {graph.reshape(hidden, shape), graph.reshape(cell, shape)};
}

// (input, hidden, weight_ih, weight_hh, bias_ih, bias_hh); gates: reset, update, candidate.
NodeValues read_gru_cell(const NodeReader& node) {
  Graph& graph = node.graph;
  const CellTerms t{graph, graph.dtype(node.tensor(0))};
  const ValueId before = as_batch(graph, node.tensor(1));
  const ValueId from_input = projected(graph, as_batch(graph, node.tensor(0)), node.tensor(2), bias_at(node, 4));
  const ValueId from_state = projected(graph, before, node.tensor(3), bias_at(node, 5));
  const auto both = [&](std::int64_t gate) {
    return t.one("sigmoid", t.two("add", t.gate(from_input, gate, 3), t.gate(from_state, gate, 3)));
  };
  const ValueId recalled = t.two("mul", both(0), t.gate(from_state, 2, 3));
  const ValueId candidate = t.one("tanh", t.two("add", t.gate(from_input, 2, 3), recalled));
  const ValueId hidden = t.two("add", t.two("mul", t.two("sub", before, candidate), both(1)), candidate);
  return {graph.reshape(hidden, graph.shape(node.tensor(1)))};
}

NodeValues read_rnn_cell(const NodeReader& node, const char* fn) {
  Graph& graph = node.graph;
  const CellTerms t{graph, graph.dtype(node.tensor(0))};
  const ValueId sum = t.two("add", projected(graph, as_batch(graph, node.tensor(0)), node.tensor(2), bias_at(node, 4)),
                            projected(graph, as_batch(graph, node.tensor(1)), node.tensor(3), bias_at(node, 5)));
  return {graph.reshape(t.one(fn, sum), graph.shape(node.tensor(1)))};
}

NodeValues read_tanh_cell(const NodeReader& node) { return read_rnn_cell(node, "tanh"); }
NodeValues read_relu_cell(const NodeReader& node) { return read_rnn_cell(node, "relu"); }

constexpr OpRow kCellOps[] = {
    {"aten.lstm_cell.default", read_lstm_cell},
    {"aten.gru_cell.default", read_gru_cell},
    {"aten.rnn_tanh_cell.default", read_tanh_cell},
    {"aten.rnn_relu_cell.default", read_relu_cell},
};

}  // namespace

std::span<const OpRow> cell_ops() { return kCellOps; }

}  // namespace kw
