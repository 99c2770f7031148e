// A problem as the playbook sees it: a graph of normalised values, few kinds of them, into which the readers (read_*.cpp) take
// PyTorch's operations apart. It knows nothing of loops or text.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "record/tensor.h"

namespace kw {

using ValueId = int;
using Shape = std::vector<std::int64_t>;

enum class ValueKind {
  argument,     // a tensor argument, by its strides
  scalar,       // a number among the arguments; shape []
  constant,     // one number; shape [] (views expand it)
  table,        // numbers that forward() makes from literals, contiguous
  iota,         // its own position: shape [n], int64
  view,         // operand dimension d is read at map[d]
  reshape,      // the operand's elements in row-major order
  pointwise,    // fn of operands, all of this value's shape
  reduce,       // fn over dims of the operand: sum prod max min any all; the shape leaves them out
  arg_reduce,   // position (int64) of the first max or min along dims[0]; the shape leaves it out
  scan,         // running fn along dims[0]: sum prod max min; inclusive, forward (views make the others)
  window,       // fn (max or sum) over a window of each element; what lies outside the operand is left out
  product,      // [B, M, K] times [B, K, N] is [B, M, N]; exactly three dimensions, views and reshapes do the rest
  convolution,  // operands {[N, C, ...], [O, C / groups, ...]} make [N, O, ...]: sums of products over the window of each element
  recurrence,   // all steps of a recurrent layer (fn: lstm gru tanh relu), from the end where number says so; see below
  gather,       // operands {table, index}: the table at its own position but index along dims[0]; shape is the index's
  pad,          // the operand (operands[0]) at position - before[d], and operands[1] (shape []) outside
  concat,       // operands one after the other along dims[0]
};

// Operands of a recurrence: what the inputs give to the gates [T, N, G * H], the first state [N, H], weights [G * H, H] and biases
// [G * H] of the state, the first cell of an lstm [N, H]. It is the states [T, N, H] and, of an lstm, the last cell behind them.

// The dimension of an operand that a view reads: scale * (position in out_dim) + offset; out_dim -1: offset alone.
struct DimMap {
  int out_dim = -1;
  std::int64_t scale = 1;
  std::int64_t offset = 0;
  bool operator==(const DimMap&) const = default;
};

// One dimension of a window: output position o covers o * stride - before + k * dilation for k in [0, size). The operand's elements
// lie `up` apart, with nothing between them: a transposed convolution has its stride there.
struct WindowDim {
  std::int64_t size = 1;
  std::int64_t stride = 1;
  std::int64_t before = 0;
  std::int64_t dilation = 1;
  std::int64_t up = 1;
  bool operator==(const WindowDim&) const = default;
};

struct Value {
  ValueKind kind = ValueKind::constant;
  DType dtype = DType::f32;
  Shape shape{};
  std::vector<ValueId> operands{};
  std::string fn{};                     // pointwise, reduce, arg_reduce, scan, window
  std::vector<int> dims{};              // reduce (ascending), arg_reduce, scan, gather, concat
  std::vector<DimMap> map{};            // view: one for each dimension of the operand
  std::vector<WindowDim> window{};      // window: one for each dimension; convolution: one for each behind the channels
  std::int64_t groups = 1;              // convolution: of channels, each with its own weights
  DType factors = DType::f32;           // product of float32: the type that PyTorch has its factors in, which may be 16 bits
  std::vector<std::int64_t> before{};   // pad: one for each dimension
  std::vector<std::int64_t> strides{};  // argument
  std::string name{};                   // argument, scalar: its c_name
  bool parameter = false;               // argument: it belongs to the weights, and kw_prepare may read it
  double number = 0;                    // constant
  std::vector<double> numbers{};        // table
  std::string origin{};                 // the graph's node it came from, for messages and comments
};

std::int64_t numel(const Shape& shape);
// Those of a contiguous tensor.
std::vector<std::int64_t> contiguous_strides(const Shape& shape);

// Which dimensions of `split` each dimension of `merged` is made of, in order; empty: `merged` is no merging of them.
std::vector<std::vector<int>> parts_of_merged(const Shape& split, const Shape& merged);

// The values, each after its operands; equal ones are one. The make_* functions simplify: a view that changes nothing is its
// operand, views of views are one view, operations on constants are constants, a cast to the same type is nothing.
class Graph {
 public:
  [[nodiscard]] const Value& at(ValueId id) const { return values_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] int size() const { return static_cast<int>(values_.size()); }
  [[nodiscard]] const Shape& shape(ValueId id) const { return at(id).shape; }
  [[nodiscard]] DType dtype(ValueId id) const { return at(id).dtype; }

  ValueId add(Value value);  // as it is; the origin is set_origin's
  void set_origin(std::string origin) { origin_ = std::move(origin); }

  ValueId constant(double number, DType dtype = DType::f32);
  ValueId iota(std::int64_t count);
  ValueId view(ValueId operand, Shape shape, std::vector<DimMap> map);
  ValueId reshape(ValueId operand, Shape shape);
  ValueId permute(ValueId operand, const std::vector<int>& order);  // dimension d of the result is order[d] of the operand
  ValueId expand(ValueId operand, const Shape& shape);              // broadcasting, PyTorch's rule
  ValueId unsqueeze(ValueId operand, int dim);
  ValueId slice(ValueId operand, int dim, std::int64_t start, std::int64_t count, std::int64_t step = 1);
  ValueId flip(ValueId operand, int dim);
  ValueId select(ValueId operand, int dim, std::int64_t position);
  // Operands are broadcast to a common shape first. `dtype` is the result's; types of operands are the caller's affair.
  ValueId pointwise(const std::string& fn, const std::vector<ValueId>& operands, DType dtype);
  ValueId pointwise(const std::string& fn, const std::vector<ValueId>& operands) {
    return pointwise(fn, operands, at(operands[0]).dtype);
  }
  ValueId cast(ValueId operand, DType dtype);
  ValueId reduce(const std::string& fn, ValueId operand, std::vector<int> dims, bool keepdim = false);
  ValueId arg_reduce(const std::string& fn, ValueId operand, int dim, bool keepdim = false);
  ValueId product(ValueId left, ValueId right);  // [B, M, K] and [B, K, N]
  ValueId convolution(ValueId input, ValueId weight, Shape shape, std::vector<WindowDim> window, std::int64_t groups);
  ValueId gather(ValueId table, ValueId index, int dim);

 private:
  ValueId spread_in(ValueId view, const Shape& split);  // a view in a shape with some of its dimensions split; -1: not as a view
  std::deque<Value> values_;                            // references stay good while values are added
  std::map<std::string, ValueId> known_;
  std::string origin_;
};

inline bool is_16_bit(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }
// Integers that a float has all of.
inline bool is_small_integer(DType dtype) { return dtype == DType::i8 || dtype == DType::u8 || dtype == DType::i16; }

// What a value shows, views and reshapes apart.
inline ValueId behind_views(const Graph& graph, ValueId id) {
  while (graph.at(id).kind == ValueKind::view || graph.at(id).kind == ValueKind::reshape) id = graph.at(id).operands[0];
  return id;
}

// The constant behind views, or nothing.
const Value* constant_behind(const Graph& graph, ValueId id);

// Exponentials and the like: worth keeping.
bool is_costly(const Value& value);

// Which values read each value.
std::vector<std::vector<ValueId>> users_of(const Graph& graph);

}  // namespace kw
