// Text of generated code, pulled from values: emit(value, index) writes what is needed to have the value's element at an index of
// affine expressions, and answers with an expression for it. Scalar and vector code come from the same call. It never decides which
// loops there are: stages do.
//
// Scopes are the open blocks of the generated code. What is emitted is a named constant in the outermost open scope on whose
// variables it depends, so what is the same for a whole row stands before the loop over the row, and a reduction is a loop before
// its first use. Nothing is computed twice in a scope.
//
// A variable may be a vector variable: it stands for kw_lanes consecutive positions. Values that depend on it are kw_vec (kw_mask
// for boolean). Only float32 and boolean values, what memory has in 16 bits or in bytes and positions below 2^24 have vector forms:
// where something has none, trouble() says what, the text is worthless, and the stage starts again with scalar code.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "playbook/affine.h"
#include "playbook/value.h"
#include "record/contract.h"

namespace kw {

// The type of expressions: float for f32, f16 and bf16, double, std::int64_t for all integers, bool.
struct Expr {
  std::string text;  // an identifier, a literal, or parenthesised
  DType dtype = DType::f32;
  bool vector = false;  // kw_vec; kw_mask where dtype is boolean
  int depth = 0;        // of the scope in which it stays the same
  double bound = -1;    // of whole numbers that come from bytes: how large they are at most; negative: not known
  std::string exact{};  // of what was rounded to 16 bits: the text before, for a store that rounds
};

bool is_maths_function(const std::string& fn);  // exp, tanh, erf, ...: what libm or polynomials compute
std::string_view value_type(DType dtype);       // as it is computed with: "float" for bf16
double greatest_in(DType dtype);                // the greatest whole number of a type
std::string float_text(double number);          // 0.5f
std::string number_text(double number, DType dtype);

// One step from a value to what its elements are moved to: another shape, or other dimensions in another order.
struct Movement {
  Shape from;
  Shape to;
  std::vector<DimMap> map{};  // of a view: one for each dimension of `from`; empty: a reshape
};

// Where a value is in memory, contiguous in the shape that its movements lead to.
struct Buffer {
  std::string name;  // a pointer in the generated code
  DType dtype = DType::f32;
  Shape shape;
  bool output = false;
  std::vector<Movement> moves{};
  Index row{};  // CUDA: of a row that threads keep: positions in the dimensions that the shape has no room for
};

// CUDA: how threads share out a row. What is the same for all of them (up to scope `depth`) they reduce together.
struct RowGroup {
  // Opens a loop over [0, count) of which this thread does its part, runs the body with the position, and closes it. Null: each
  // thread reduces on its own.
  std::function<void(std::int64_t count, const std::function<void(VarId)>& body)> loop;
  std::string join;     // "kw_block_join<KW_THREADS>({1}, kw_join_{0}())": what joins the threads' results
  std::string item;     // the number of the position among this thread's own; empty: there is none
  VarId position = -1;  // that the item stands for
  int depth = 0;
  bool vector = false;  // positions are vectors
};

// How reductions are written where emit() meets them.
struct ReduceStyle {
  bool vector = false;       // along their innermost dimension, where that works
  std::string accumulators;  // macro or number of independent accumulators; empty: 1
  std::string block;         // macro or number of elements of a block sum; empty: none
  bool unroll = false;
  bool masked_tails = false;  // what is left of a row is one vector of which some lanes count
};

// Where an element of a view is in what it looks at.
Index behind_view(const Value& view, const Index& index);
// The index as who looks through views asks for it: 0 in dimensions with one position.
Index without_single_positions(Index index, const Shape& shape);
// The index of a reduction's operand: the free dimensions from the result's, the reduced ones from `reduced`.
Index operand_index(const Value& reduction, const Index& result, const Index& reduced);

class Emitter {
 public:
  // `reserved` are names that the generated code must not use: the problem's.
  Emitter(const Graph& graph, std::set<std::string> reserved);

  // --- variables and scopes ---
  // A name that nothing else has, like the hint.
  std::string unique(const std::string& hint);
  // A new integer with values in [0, extent); it belongs to the scope that is opened with it.
  VarId variable(const std::string& hint, std::int64_t extent, bool vector = false);
  [[nodiscard]] const std::string& name(VarId var) const { return variables_[static_cast<std::size_t>(var)].name; }
  [[nodiscard]] bool is_vector(VarId var) const { return variables_[static_cast<std::size_t>(var)].vector; }
  // Opens a block: "for (...) {" or "{"; its variables live until close().
  void open(const std::string& header, const std::vector<VarId>& variables = {});
  // for (std::int64_t i = 0; i < extent; ++i) {     (i += kw_lanes where vector: then extent must be a multiple or the rest be
  // handled)
  VarId open_loop(const std::string& hint, std::int64_t extent, const std::string& pragma = "");
  // The loop over the variable adds terms up, or joins them otherwise, one after the other.
  VarId summed(VarId var) { return variables_[static_cast<std::size_t>(var)].summed = true, var; }
  void close(const std::string& footer = "}");
  void line(const std::string& text);  // into the innermost scope
  // const std::int64_t hint = text; in the innermost scope. The range must be right: divisions are simplified by it.
  VarId define(const std::string& hint, const std::string& text, Range range, bool vector = false);
  // value / divisor, exact or as an integer that is defined where it is first needed. The range is the quotient's.
  Affine quotient(const Affine& value, std::int64_t divisor, Range range);
  TakenApart take_apart(VarId whole, std::int64_t parts);
  // Positions of a flattened index: one affine (or opaque) expression for each dimension of the shape.
  Index unflatten(const Affine& flat, const Shape& shape);
  Affine flatten(const Index& index, const Shape& shape);
  Index reshaped(const Index& index, const Shape& from, const Shape& to);
  Affine position_in(const Buffer& buffer, const Index& index);
  [[nodiscard]] std::string text(const Affine& value);  // "4 * i + j + 2"; defines opaque integers that it needs
  // Everything written so far at the outermost level; call with all scopes closed.
  std::string take_text();

  // --- values ---
  Expr emit(ValueId value, const Index& index);
  // From now on, and as long as the innermost scope is open, the value at this index is this expression.
  void provide(ValueId value, const Index& index, const Expr& expression);
  // The value is in memory from now on: loads instead of computing. A buffer's shape may have 1 where the value's has more: then
  // all positions of that dimension are the same memory (a row that is kept).
  void materialise(ValueId value, const Buffer& buffer) { buffers_[value] = buffer; }
  // CUDA: each thread has the elements of a row that it works on in registers, by RowGroup::item.
  void keep(ValueId value, const Buffer& buffer) { kept_[value] = buffer; }
  void forget(ValueId value) { buffers_.erase(value); }
  // A reduction over a part of its operand: the leading reduced dimensions are fixed, and of the remaining ones, flattened, only
  // [begin, end) counts (texts; empty: all). Written into the innermost scope.
  Expr reduce_part(ValueId value, const Index& index, const Index& fixed, const std::string& begin, const std::string& end);
  [[nodiscard]] const Buffer* buffer_of(ValueId value) const;
  // A load from memory: kw_load, a scalar, or kw_gather, by the coefficient of the vector variable in the position.
  Expr load(const std::string& pointer, const Affine& position, DType dtype);
  // Stores; a vector expression needs coefficient 1 (kw_store, or kw_stream where asked for and possible).
  // `any_start`: the vectors of the loop may start at any position.
  void store(const Buffer& buffer, const Index& index, const Expr& value, bool stream = false, bool any_start = false);
  // A named constant in the outermost scope on which the index depends. `text` is of the value's type.
  Expr named(const std::string& hint, const std::string& text, DType dtype, bool vector, const Index& depends);
  Expr named_at(int depth, const std::string& hint, const std::string& text, DType dtype, bool vector);
  // Operands converted and splatted as the function needs; the same functions as in pointwise values.
  Expr apply(const std::string& fn, const std::vector<Expr>& operands, DType dtype);
  Expr exp_to_one(const Expr& x);          // exp of what is never above 0
  Expr expm1_of_negatives(const Expr& x);  // anything where x is positive
  Expr as_vector(const Expr& expression);  // splatted if it is a scalar
  Expr converted(const Expr& expression, DType dtype);
  // Whole numbers outside their type, brought into it as PyTorch's arithmetic does: its type is what counts at every operation.
  Expr wrapped(const Expr& expression);
  // For a store that rounds to 16 bits.
  static const std::string& before_rounding(const Expr& value) { return value.exact.empty() ? value.text : value.exact; }
  // a (fn) b for fn of reductions: sum prod max min any all; and what it starts from.
  Expr combine(const std::string& fn, const Expr& a, const Expr& b);
  static std::string identity(const std::string& fn, DType dtype);
  // The scalar of a vector of partial results.
  Expr across_lanes(const std::string& fn, const Expr& vector);

  struct Place {
    std::string pointer;
    Affine position;
    DType dtype = DType::f32;
    bool found = false;
  };
  // Where the element at the index is in memory, views and reshapes apart.
  Place place_of(ValueId id, const Index& index);
  [[nodiscard]] int depth() const { return static_cast<int>(scopes_.size()) - 1; }

  ReduceStyle reduce_style;
  RowGroup row_group;
  bool cuda = false;           // text for a thread of a GPU: vectors are aligned, sums are floats
  bool plain_pointers = true;  // all memory may be pointed at alike: not where it has kinds (OpenCL) or is tensors (CuTe)
  std::string_view index_type = "std::int64_t";  // of positions
  std::string prefetch;                          // macro of the bytes ahead of vector loads that are asked for early; empty: none
  std::set<std::string> in_cache;                // pointers to what was just written: nothing of them is asked for early
  // Rows that are gone over several times: while the second pass works on what is in cache, the next row is asked for.
  struct RowLoad {
    std::string pointer;
    Affine position;
    bool operator==(const RowLoad&) const = default;
  };
  struct NextRow {
    std::int64_t bytes = 0;  // from a row to the next one; 0: nothing is asked for
    int depth = 0;           // of the scope of a row
    VarId first = -1;        // the vector variable of the first pass
    bool asked = false;
    std::map<VarId, std::vector<RowLoad>> loads{};  // what depends on the row, by the vector variable of the pass
  };
  NextRow next_row;
  // A value of which a row is kept while the reduction along it is written, -1: none. Only reductions in vectors do that.
  struct RowCopy {
    ValueId value = -1;
    Buffer buffer;
    bool written = false;
  };
  RowCopy row_copy;
  // The variable of rows that may be picked by positions, -1: none; and that of a later row, which is made where it is needed.
  VarId picking_row = -1;
  VarId later_row = -1;
  // The vector variable of which only the first lanes count, -1: none, and how many do (text): loads and stores touch no others.
  VarId part_of = -1;
  std::string part;
  // Opens the block of what vectors of `count` positions leave over: a vector variable with part_of set. close_tail() ends it.
  VarId open_tail(std::int64_t count);
  void close_tail();
  // The value with `otherwise` in the lanes that do not count, where they do not.
  Expr within_part(const Expr& value, const std::string& otherwise);
  // Call at the end of the body of each vector loop along a row.
  void end_of_row_pass(VarId along);

  // Why there is no vector code for what was emitted; empty: there is.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  void set_trouble(const std::string& why) {
    if (trouble_.empty()) trouble_ = why;
  }
  // A trial: if `write` runs into trouble, all that it wrote is undone and the trouble forgotten. True: it stands.
  bool attempt(const std::function<void()>& write);
  // A piece of knowledge/playbook that the text needs; raw text that says kw_NAME is understood without.
  void need(const std::string& piece) { needed_.insert(piece); }
  // One that defines a name of other pieces for further types: only who writes it knows that it is needed.
  void need_overload(const std::string& piece) { need(piece), overloads_.insert(piece); }
  [[nodiscard]] const std::set<std::string>& overloads() const { return overloads_; }
  [[nodiscard]] const std::set<std::string>& needed() const { return needed_; }
  // Tables of numbers that the text reads, named kw_table_ID.
  [[nodiscard]] const std::set<ValueId>& tables() const { return tables_; }
  void need_table(ValueId table) { tables_.insert(table); }
  // Whether reductions may be emitted for each lane of a vector variable (loops over columns).
  bool columns = false;
  // Strategies that took effect while emitting.
  [[nodiscard]] const std::set<std::string>& used() const { return used_; }
  void use(const std::string& strategy) { used_.insert(strategy); }
  int lanes = 8;                 // of this machine, where a decision needs them; the text is for any
  bool vector_maths = false;     // exp and others on vectors by polynomials; false: lane by lane through libm
  bool skip_idle_lanes = false;  // exponentials are left out of vectors in which no lane needs one
  bool reciprocals = false;      // division by what stays the same in the innermost loop is multiplication by its reciprocal

 private:
  struct Variable {
    std::string name;
    Range range;
    bool vector = false;
    int depth = 0;             // of the scope that owns it
    std::int64_t divisor = 0;  // of an opaque integer that is defined where it is first needed: dividend / divisor
    Affine dividend;
    bool remainder = false;  // dividend % divisor instead
    bool defined = true;
    bool varies = false;  // an opaque integer of which the lanes of a vector differ
    bool summed = false;  // of a loop whose terms are added up
    bool turned = false;  // ... and read in another order than they have in memory
  };
  struct Scope {
    std::string text;
    std::string header;
    std::map<std::string, Expr> known;
    std::map<std::string, VarId> integers;  // opaque ones, by definition
    std::vector<VarId> variables;
  };

  friend class ReduceEmitter;
  Expr emit_new(ValueId value, const Index& index);
  Expr emit_view(const Value& value, const Index& index);
  Expr emit_pad(const Value& value, const Index& index);
  Expr emit_concat(const Value& value, const Index& index);
  // One operand of a concatenation, the index in it (which may lie outside), and the position along the seams where it ends.
  struct Joined {
    ValueId operand = -1;
    Index index;
    std::int64_t end = 0;
  };
  // From the operand in which the element lies, if all of them are in memory; false: not like that.
  bool load_joined(const std::vector<Joined>& parts, const Affine& along, Expr& result);
  Expr emit_gather(const Value& value, const Index& index);
  // Lanes picked by positions that are side by side in memory; false: not like that.
  bool emit_pick(const Value& value, const Index& index, Expr& result);
  void prefetch_later_pick(const Value& value, const Index& index);
  Expr emit_reduce(ValueId id, const Index& index);
  Expr emit_arg_reduce(const Value& value, const Index& index);
  Expr emit_window(const Value& value, const Index& index);
  Expr emit_product(const Value& value, const Index& index);
  Expr emit_convolution(const Value& value, const Index& index);
  Expr emit_iota(const Affine& position);
  // A float as what is left of it in 16 bits, a float again.
  [[nodiscard]] std::string rounded_to_16(const std::string& text, DType dtype) const;
  [[nodiscard]] int depth_of(const Index& index) const;
  static bool is_aligned(const Affine& position, VarId vector);  // CUDA: at a multiple of 16 bytes
  void touch(VarId var);
  // emit_order.cpp: loops whose variables the position has read in another order than that of memory; the same as a load shows it;
  // and whether the scope is a loop that must not be unrolled for it.
  void turn(const Affine& position);
  void note_order(const Affine& position);
  [[nodiscard]] bool adds_terms_twice(const Scope& scope) const;
  [[nodiscard]] bool varies(const Index& index) const;  // depends on a vector variable
  [[nodiscard]] VarId vector_variable(const Affine& value) const;
  // A function on vectors that does for some arguments of a general one, by a strategy; or that one.
  Expr special_case(const std::string& fn, const std::string& general, const Expr& x, const std::string& strategy);
  // Runs with the scopes below `depth` set aside: what is written goes before them.
  void at_depth(int depth, const std::function<void()>& write);
  [[nodiscard]] std::vector<Range> ranges() const;
  static std::string key(ValueId value, const Index& index);

  const Graph& graph_;
  std::set<std::string> names_;
  std::map<std::string, int> next_name_;
  std::vector<Variable> variables_;
  std::vector<Scope> scopes_;
  std::map<ValueId, Buffer> buffers_;
  std::vector<TakenApart> taken_apart_;
  std::map<ValueId, Buffer> kept_;
  std::set<std::string> used_;
  std::set<std::string> needed_;
  std::set<std::string> overloads_;
  std::set<ValueId> tables_;
  std::vector<int> users_;           // how many values read each
  std::set<ValueId> for_negatives_;  // counts_where_negative
  std::string trouble_;
};

}  // namespace kw
