// Reads PyTorch's graph into values. One row a operation, in tables by kind of operation (read_*.cpp).
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "playbook/value.h"
#include "record/problem.h"

namespace kw {

// What one node of the graph gives: usually one value.
using NodeValues = std::vector<ValueId>;

// A node's arguments by position of its schema, defaults included (docs/oracle-protocol.md), then keyword-only ones by name.
class NodeReader {
 public:
  NodeReader(Graph& graph, const Json& node, const std::map<std::string, NodeValues>& known,
             const std::map<std::string, ValueId>& scalars);

  Graph& graph;
  const Json& node;
  [[nodiscard]] std::string op() const;

  // The readers below throw ReadError where an argument is not what they ask for.
  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] bool is_none(std::size_t position) const;  // absent or null
  [[nodiscard]] bool is_tensor(std::size_t position) const;
  [[nodiscard]] ValueId tensor(std::size_t position) const;   // a tensor
  [[nodiscard]] ValueId operand(std::size_t position) const;  // a tensor or a number; a number is a scalar or constant value
  [[nodiscard]] std::int64_t integer(std::size_t position) const;
  [[nodiscard]] double number(std::size_t position) const;
  [[nodiscard]] bool boolean(std::size_t position) const;
  [[nodiscard]] std::string string(std::size_t position) const;
  [[nodiscard]] std::vector<std::int64_t> integers(std::size_t position) const;  // a list, or one number
  [[nodiscard]] std::vector<ValueId> tensors(std::size_t position) const;        // those of a list; None among them is left out
  [[nodiscard]] int dim(std::size_t position, std::size_t rank) const;           // negative ones counted from the end
  [[nodiscard]] const Json& argument(std::size_t position) const;                // raw
  [[nodiscard]] const Json* keyword(const std::string& name) const;
  [[nodiscard]] Shape shape() const;                                    // of the result
  [[nodiscard]] DType dtype() const;                                    // of the result
  [[nodiscard]] const NodeValues& results(std::size_t position) const;  // of a node with several results

 private:
  [[nodiscard]] ValueId value_of(const Json& argument) const;
  const std::map<std::string, NodeValues>& known_;
  const std::map<std::string, ValueId>& scalars_;
};

// Thrown by readers of nodes, caught by read_graph, which adds the node's name.
struct ReadError {
  std::string message;
};

struct OpRow {
  const char* op;  // "aten.softmax.int"
  NodeValues (*read)(const NodeReader& node);
};

// The tables; read.cpp joins them. A new operation is a row in one of them.
std::span<const OpRow> pointwise_ops();
std::span<const OpRow> activation_ops();
std::span<const OpRow> view_ops();
std::span<const OpRow> reduce_ops();
std::span<const OpRow> norm_ops();
std::span<const OpRow> loss_ops();
std::span<const OpRow> lookup_ops();  // gather, embedding
std::span<const OpRow> scan_ops();    // read_scan.cpp
// `shorter` with one `first` in front of it along a dimension, as one scan: where it is a running value without its last, and
// `first` what that starts from. -1: it is something else.
ValueId scan_of_before(Graph& graph, ValueId first, ValueId shorter, int dim);
std::span<const OpRow> window_ops();       // read_window.cpp
std::span<const OpRow> arg_ops();          // read_arg.cpp: argmax, argmin, max.dim, min.dim
std::span<const OpRow> convolution_ops();  // read_convolution.cpp
std::span<const OpRow> interpolate_ops();  // read_interpolate.cpp
std::span<const OpRow> cell_ops();         // read_cell.cpp: one step of LSTM, GRU, RNN
std::span<const OpRow> recurrent_ops();    // read_recurrent.cpp: whole layers
std::span<const OpRow> product_ops();      // read_product.cpp: mm, addmm, bmm, matmul, linear, mv, dot, einsum, outer

// Shared by tables.
std::vector<int> all_dims(std::size_t rank);
ValueId mean_over(Graph& graph, ValueId x, const std::vector<int>& dims, bool keepdim);
// x less its mean over some dimensions.
ValueId centred_over(Graph& graph, ValueId x, const std::vector<int>& dims);
// read_sum.cpp: the sum over some dimensions; precise where x was centred.
ValueId sum_over(Graph& graph, ValueId x, std::vector<int> dims, bool keepdim);

struct ReadProblem {
  Graph graph;
  std::vector<ValueId> outputs;  // in the order of problem.outputs
};

// Two outputs never are one value: the second is a copy.
std::vector<ValueId> apart(Graph& graph, const std::vector<ValueId>& outputs);

// bad_input: names the operation and the node that it does not know.
Result<ReadProblem> read_graph(const ProblemDescription& problem);
// Operations of the graph that keep it from being read; taken apart into simpler ones it may be.
std::set<std::string> unread_operations(const ProblemDescription& problem);
// The same for coders without a form for the steps of recurrent layers: these are an error, too.
Result<ReadProblem> read_graph_without_recurrences(const ProblemDescription& problem);

}  // namespace kw
