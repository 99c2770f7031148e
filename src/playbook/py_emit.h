// Text of kernels in Python DSLs, pulled from values as emit.h does for C++: emit(value, index) writes what is needed to have the
// value at an index and answers with an expression. In Triton an index may stand for a block of positions and every expression for
// a block of values; in TileLang an expression is one element. It never decides which loops there are: families do.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "playbook/affine.h"
#include "playbook/emit.h"
#include "playbook/value.h"

namespace kw {

enum class PyDialect { triton, tilelang };

// A function that kernels call, by what it joins: "max". The text stands before the kernels.
std::string python_helper(PyDialect dialect, const std::string& name);

// Dimensions of a block that positions run along.
inline constexpr unsigned kAlongRows = 1, kAlongColumns = 2;

struct PyExpr {
  std::string text;  // an identifier, a literal, a call, or parenthesised
  DType dtype = DType::f32;
  bool block = false;  // Triton: it differs within the block
  int depth = 0;       // of the scope in which it stays the same
};

class PyEmitter {
 public:
  PyEmitter(const Graph& graph, PyDialect dialect, std::set<std::string> reserved, int indent);

  // --- variables and scopes ---
  std::string unique(const std::string& hint);
  // A position that the code around has under this name, in the innermost scope. `axes`: of the block, that it differs along
  // (kAlongRows, kAlongColumns); 0: it is one number. `mask`: which of its values count (Triton); "" all.
  VarId position(const std::string& name, Range range, unsigned axes, const std::string& mask = "");
  // hint = text, in the innermost scope.
  VarId define(const std::string& hint, const std::string& text, Range range, unsigned axes, const std::string& mask = "");
  void open(const std::string& header);
  VarId open_loop(const std::string& hint, std::int64_t count);  // one position after the other
  void close();
  void line(const std::string& text);
  [[nodiscard]] const std::string& name(VarId var) const { return variables_[static_cast<std::size_t>(var)].name; }
  [[nodiscard]] int depth() const { return static_cast<int>(scopes_.size()) - 1; }
  Index unflatten(const Affine& flat, const Shape& shape);
  static Affine flatten(const Index& index, const Shape& shape);
  std::string text(const Affine& value);
  std::string take_text();  // with all scopes closed

  // --- values ---
  PyExpr emit(ValueId value, const Index& index);
  void provide(ValueId value, const Index& index, PyExpr expression);
  void materialise(ValueId value, const Buffer& buffer) { buffers_[value] = buffer; }
  void store(const Buffer& buffer, const Index& index, const PyExpr& value);
  PyExpr apply(const std::string& fn, const std::vector<PyExpr>& operands, DType dtype);
  PyExpr converted(const PyExpr& expression, DType dtype);
  // Whole numbers outside their type, brought into it.
  [[nodiscard]] PyExpr wrapped(const PyExpr& expression) const;
  PyExpr combine(const std::string& fn, const PyExpr& a, const PyExpr& b);
  [[nodiscard]] std::string number(double number, DType dtype) const;
  [[nodiscard]] std::string identity(const std::string& fn, DType dtype) const;
  [[nodiscard]] std::string type_name(DType dtype) const;  // as it is computed with: "tl.float32", "'float32'"
  // An accumulator in the innermost scope: how it is read, and its assignment.
  std::string accumulator(const std::string& hint, DType dtype, const std::string& start, bool block);
  void assign(const std::string& accumulator, const std::string& text);
  [[nodiscard]] std::string mask_of(const Index& index) const;  // "" where everything counts
  [[nodiscard]] unsigned axes_of(const Index& index) const;
  [[nodiscard]] bool is_block(const Index& index) const { return axes_of(index) != 0; }
  // Triton: the text of a position in memory, as a block along all axes of the index: a dimension of one position is in the index
  // and in its mask, not in the position, and what is stored must not have more axes than its address.
  [[nodiscard]] std::string spread_over_block(const std::string& at, const Index& index, const Affine& position) const;

  // Where the element at the index is in memory, views and reshapes apart.
  Emitter::Place place_of(ValueId id, const Index& index);

  // Triton: how a reduction is written whose result is the same for a whole row: [rows, 1] blocks reduced along their second
  // dimension. Null: each lane reduces on its own.
  std::function<PyExpr(ValueId reduce, const Index& index)> reduce_rows;
  std::string block_shape = "[KW_BLOCK]";  // Triton: of accumulators
  bool fast_maths = false;
  [[nodiscard]] bool used_fast_maths() const { return used_fast_; }
  // Why there is no text for what was asked; empty: there is.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  void set_trouble(const std::string& why) {
    if (trouble_.empty()) trouble_ = why;
  }
  [[nodiscard]] const std::set<std::string>& pointers() const { return pointers_; }  // names of memory that the text uses
  [[nodiscard]] const std::vector<Affine>& loads() const { return loads_; }          // positions in memory that it reads
  // The operand's index of a reduction: reduced dimensions from `reduced`.
  [[nodiscard]] int depth_of(const Index& index) const;
  // Runs with the scopes below `depth` set aside: what is written goes before them.
  void at_depth(int depth, const std::function<void()>& write);
  const Graph& graph;
  const PyDialect dialect;

 private:
  struct Variable {
    std::string name;
    Range range;
    unsigned axes = 0;
    std::string mask;
    int depth = 0;
    bool defined = true;
    std::int64_t divisor = 0;
    Affine dividend;
  };
  struct Scope {
    std::string header, text;
    std::map<std::string, PyExpr> known;
    std::map<std::string, VarId> integers;
  };
  PyExpr emit_new(ValueId id, const Index& index);
  PyExpr load(const std::string& pointer, const Affine& position, DType dtype);
  PyExpr emit_reduce(const Value& value, const Index& index);
  PyExpr emit_arg_reduce(const Value& value, const Index& index);
  PyExpr emit_window(const Value& value, const Index& index);
  PyExpr emit_product(const Value& value, const Index& index);
  PyExpr emit_convolution(const Value& value, const Index& index);
  PyExpr emit_gather(const Value& value, const Index& index);
  PyExpr emit_pad(const Value& value, const Index& index);
  PyExpr emit_concat(const Value& value, const Index& index);
  PyExpr emit_table(ValueId id, const Value& value, const Index& index);
  PyExpr named_at(int depth, const std::string& hint, const PyExpr& expression);
  // What `write` emits counts only where the condition holds: loads touch nothing elsewhere.
  PyExpr guarded(const std::vector<std::string>& conditions, const std::function<PyExpr()>& write);
  [[nodiscard]] std::string joined_guards() const;
  VarId quotient(const Affine& value, std::int64_t divisor, Range range);
  [[nodiscard]] std::vector<Range> ranges() const;
  [[nodiscard]] std::string key(ValueId value, const Index& index) const;

  std::set<std::string> names_;
  std::map<std::string, int> next_name_;
  std::vector<Variable> variables_;
  std::vector<Scope> scopes_;
  std::map<ValueId, Buffer> buffers_;
  std::vector<std::string> guards_;
  std::vector<int> users_;
  std::set<std::string> pointers_;
  std::vector<Affine> loads_;
  std::string trouble_;
  int indent_;
  bool used_fast_ = false;
};

}  // namespace kw
