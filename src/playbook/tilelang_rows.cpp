// Reductions and what is made of them in TileLang: the threads of a block share a row, neighbours on neighbouring elements, and
// join what they have by exchanging registers or in shared memory.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/loops.h"
#include "playbook/py_stage.h"

namespace kw {
namespace {

class TileLangRows {
 public:
  TileLangRows(PyWriter& writer, const Stage& stage)
      : writer_(writer), stage_(stage), kernel_(writer.kernel("rows")), e_(kernel_.e) {}

  bool write(std::int64_t longest) {
    const Shape& shape = writer_.graph.shape(stage_.roots[0]);
    const Shape row_shape = shape_of_dims(shape, stage_.row_dims);
    const std::int64_t rows = numel(row_shape);
    std::vector<int> inner;
    for (int d = 0; d < static_cast<int>(shape.size()); ++d)
      if (std::ranges::find(stage_.row_dims, d) == stage_.row_dims.end()) inner.push_back(d);
    exchanges_ = writer_.wants("warp_reduce");
    one_warp_ = exchanges_ && writer_.wants("warp_per_row") && rows > 1 && longest <= 4096;
    if (one_warp_) {
      kernel_.threads = "32";
      kernel_.claim("warp_per_row");
    } else {
      writer_.choose_warps(kernel_, longest >= 4096 ? 8 : longest >= 256 ? 4 : 1);
    }
    kernel_.grid = {fmt::format("{}", rows)};
    e_.line("tx = T.get_thread_binding()");
    const VarId row = e_.position("bx", {0, rows - 1}, kAlongRows);
    e_.reduce_rows = [this](ValueId id, const Index& index) { return reduce(id, index); };
    const Index index = with_dims(Index(shape.size()), stage_.row_dims, e_.unflatten(Affine::variable(row), row_shape));
    if (inner.empty()) {
      e_.open("if tx == 0:");
      store_roots(writer_, kernel_, stage_, index);
      e_.close();
    } else {
      const Shape inside = shape_of_dims(shape, inner);
      over(numel(inside), [&](VarId column) {
        store_roots(writer_, kernel_, stage_, with_dims(index, inner, e_.unflatten(Affine::variable(column), inside)));
      });
    }
    kernel_.claim("coalesce_rows");
    if (exchanges_) kernel_.claim("warp_reduce");
    return writer_.finish(kernel_);
  }

 private:
  // The body with each column of the row that is this thread's.
  void over(std::int64_t count, const std::function<void(VarId)>& body) {
    const std::string step = e_.unique("step"), name = e_.unique("column");
    e_.open(fmt::format("for {} in T.serial({}):", step, ceil_div(count, kernel_.threads)));
    e_.line(fmt::format("{} = {} * ({}) + tx", name, step, kernel_.threads));
    e_.open(fmt::format("if {} < {}:", name, count));
    body(e_.position(name, {0, count - 1}, kAlongColumns));
    e_.close();
    e_.close();
  }

  void join(const std::string& fn, const std::string& acc, const std::string& with, DType type) {
    e_.assign(acc, e_.combine(fn, {acc, type, false, e_.depth()}, {with, type, false, e_.depth()}).text);
  }

  // Every thread's accumulator becomes that of the whole block.
  void join_block(const std::string& fn, const std::string& acc, DType type) {
    if (exchanges_) {
      const std::string other = e_.accumulator("other", type, e_.identity(fn, type), false);
      for (const int distance : {16, 8, 4, 2, 1}) {
        e_.assign(other, fmt::format("T.shfl_xor({}, {})", acc, distance));
        join(fn, acc, other, type);
      }
      if (one_warp_) return;
    }
    const std::string parts = e_.unique("parts"), each = e_.unique("part");
    const std::string count = exchanges_ ? fmt::format("({}) // 32", kernel_.threads) : kernel_.threads;
    e_.line(fmt::format("{} = T.alloc_shared(({},), {})", parts, count, e_.type_name(type)));
    if (exchanges_) {
      e_.open("if tx % 32 == 0:");
      e_.line(fmt::format("{}[tx // 32] = {}", parts, acc));
      e_.close();
    } else {
      e_.line(fmt::format("{}[tx] = {}", parts, acc));
    }
    e_.line("T.sync_threads()");
    e_.assign(acc, parts + "[0]");
    e_.open(fmt::format("for {} in T.serial(1, {}):", each, count));
    join(fn, acc, fmt::format("{}[{}]", parts, each), type);
    e_.close();
    e_.line("T.sync_threads()");
  }

  PyExpr reduce(ValueId id, const Index& index) {
    const Value& value = writer_.graph.at(id);
    Shape sizes;
    for (const int d : value.dims) sizes.push_back(writer_.graph.shape(value.operands[0])[static_cast<std::size_t>(d)]);
    const DType type = is_16_bit(value.dtype) ? DType::f32 : value.dtype;
    if (type == DType::boolean) e_.set_trouble("threads that join truth values");
    std::string acc;
    e_.at_depth(0, [&] {
      acc = e_.accumulator(value.fn + "_row", type, e_.identity(value.fn, type), true);
      over(numel(sizes), [&](VarId column) {
        const Index at = operand_index(value, index, e_.unflatten(Affine::variable(column), sizes));
        const PyExpr next = e_.converted(e_.emit(value.operands[0], at), type);
        e_.assign(acc, e_.combine(value.fn, {acc, type, true, e_.depth()}, next).text);
      });
      join_block(value.fn, acc, type);
    });
    return e_.converted({acc, type, true, 0}, value.dtype);
  }

  PyWriter& writer_;
  const Stage& stage_;
  PyKernel kernel_;
  PyEmitter& e_;
  bool exchanges_ = false, one_warp_ = false;
};

bool write_tilelang_rows(PyWriter& writer, const Stage& stage) {
  if (stage.anchor >= 0 || !stage.has_reductions || !writer.wants("coalesce_rows")) return false;
  const std::int64_t longest = longest_row(writer, stage);
  return longest >= 32 && TileLangRows(writer, stage).write(longest);
}

}  // namespace

const PyFamily tilelang_rows_family{"rows", write_tilelang_rows};

}  // namespace kw
