// Reductions and what is made of them in Triton: a program has a block of whole rows in registers, or goes over them piece by
// piece.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/loops.h"
#include "playbook/py_stage.h"

namespace kw {
namespace {

constexpr std::int64_t kMostInRegisters = 16384;  // elements of a row that registers hold

class Rows {
 public:
  Rows(PyWriter& writer, const Stage& stage, bool keep)
      : writer_(writer), stage_(stage), keep_(keep), kernel_(writer.kernel("rows")), e_(kernel_.e) {}

  bool write(std::int64_t longest) {
    const Shape& shape = writer_.graph.shape(stage_.roots[0]);
    const Shape row_shape = shape_of_dims(shape, stage_.row_dims);
    const std::int64_t rows = numel(row_shape);
    std::vector<int> inner;
    for (int d = 0; d < static_cast<int>(shape.size()); ++d)
      if (std::ranges::find(stage_.row_dims, d) == stage_.row_dims.end()) inner.push_back(d);
    const bool one_warp = writer_.wants("warp_per_row") && rows > 1 && longest <= 4096;
    if (one_warp) {
      kernel_.warps = "1";
      kernel_.claim("warp_per_row");
    } else {
      writer_.choose_warps(kernel_, longest >= 4096 ? 8 : longest >= 1024 ? 4 : longest >= 256 ? 2 : 1);
    }
    const std::string each = rows_per_program(rows, longest);
    kernel_.grid = {ceil_div(rows, each)};
    e_.line(fmt::format("row = (tl.program_id(0) * {0} + tl.arange(0, {0}))[:, None]", each));
    const VarId row = e_.position("row", {0, rows - 1}, kAlongRows, each == "1" ? "" : fmt::format("(row < {})", rows));
    rows_text_ = each;
    if (!keep_) kernel_.knob("KW_COLS", std::min<std::int64_t>(1024, next_power_of_two(longest)), {256, 512, 1024, 2048});
    e_.reduce_rows = [this](ValueId id, const Index& index) { return reduce(id, index); };
    const Index index = with_dims(Index(shape.size()), stage_.row_dims, e_.unflatten(Affine::variable(row), row_shape));
    if (inner.empty()) {
      store_roots(writer_, kernel_, stage_, index);
    } else {
      const Shape inside = shape_of_dims(shape, inner);
      over(numel(inside), [&](VarId column) {
        store_roots(writer_, kernel_, stage_, with_dims(index, inner, e_.unflatten(Affine::variable(column), inside)));
      });
    }
    kernel_.claim("coalesce_rows");
    if (writer_.wants("warp_reduce")) kernel_.claim("warp_reduce");
    if (keep_) kernel_.claim("keep_row_registers");
    return writer_.finish(kernel_);
  }

 private:
  // Short rows go several to a program.
  std::string rows_per_program(std::int64_t rows, std::int64_t longest) {
    if (longest > 1024 || rows < 4 * writer_.gpu.sms || !writer_.wants("launch_shape")) return "1";
    kernel_.constraints.push_back(fmt::format("KW_ROWS * {} <= 16384", next_power_of_two(longest)));
    return kernel_.knob("KW_ROWS", 1, {1, 2, 4, 8});
  }

  // The body with the columns of the row: all of them at once, or piece by piece.
  void over(std::int64_t count, const std::function<void(VarId)>& body) {
    if (keep_) {
      auto& known = columns_[count];
      if (known < 0 || columns_.size() == 0) known = -1;
      if (!made_.contains(count)) {
        const std::string name = e_.unique("kept");
        const std::int64_t padded = next_power_of_two(count);
        e_.at_depth(0, [&] {
          e_.line(fmt::format("{} = tl.arange(0, {})[None, :]", name, padded));
          known = e_.position(name, {0, count - 1}, kAlongColumns, padded == count ? "" : fmt::format("({} < {})", name, count));
        });
        made_.insert(count);
      }
      e_.block_shape = fmt::format("[{}, {}]", rows_text_, next_power_of_two(count));
      body(known);
      return;
    }
    const std::string start = e_.unique("start"), name = e_.unique("column");
    e_.open(fmt::format("for {} in range(0, {}, KW_COLS):", start, count));
    e_.line(fmt::format("{} = ({} + tl.arange(0, KW_COLS))[None, :]", name, start));
    e_.block_shape = fmt::format("[{}, KW_COLS]", rows_text_);
    body(e_.position(name, {0, count - 1}, kAlongColumns, fmt::format("({} < {})", name, count)));
    e_.close();
  }

  // The block with the reduction's neutral element where nothing counts, of full shape.
  std::string whole(const PyExpr& value, VarId column, const std::string& fn, DType type, std::int64_t width) {
    const std::string mask = e_.mask_of({Affine::variable(column)});
    const std::string shape = fmt::format("({}, {})", rows_text_, width > 0 ? fmt::format("{}", width) : "KW_COLS");
    const std::string text = fmt::format("tl.broadcast_to({}, {})", value.text, shape);
    return mask.empty() ? text : fmt::format("tl.where({}, {}, {})", mask, text, e_.identity(fn, type));
  }

  std::string across(const std::string& fn, const std::string& block, DType type) {
    if (fn == "sum") return fmt::format("tl.sum({}, axis=1, keep_dims=True)", block);
    const bool floating = is_floating(type);
    if (fn == "prod" || floating) {
      kernel_.helpers.insert(fn);
      return fmt::format("tl.reduce({}, 1, kw_{}, keep_dims=True)", block, fn);
    }
    const char* name = fn == "max" || fn == "any" ? "max" : "min";
    if (type == DType::boolean) return fmt::format("(tl.{}(({}).to(tl.int32), axis=1, keep_dims=True) != 0)", name, block);
    return fmt::format("tl.{}({}, axis=1, keep_dims=True)", name, block);
  }

  PyExpr reduce(ValueId id, const Index& index) {
    const Value& value = writer_.graph.at(id);
    Shape sizes;
    for (const int d : value.dims) sizes.push_back(writer_.graph.shape(value.operands[0])[static_cast<std::size_t>(d)]);
    const std::int64_t count = numel(sizes);
    const DType type = value.dtype == DType::f16 || value.dtype == DType::bf16 ? DType::f32 : value.dtype;
    const auto term = [&](VarId column) {
      return e_.converted(e_.emit(value.operands[0], operand_index(value, index, e_.unflatten(Affine::variable(column), sizes))),
                          type);
    };
    const std::string name = e_.unique(value.fn + "_row");
    const std::string before = e_.block_shape;
    e_.at_depth(0, [&] {
      if (keep_) {
        over(count, [&](VarId column) {
          const PyExpr next = term(column);
          e_.line(
              fmt::format("{} = {}", name, across(value.fn, whole(next, column, value.fn, type, next_power_of_two(count)), type)));
        });
        return;
      }
      e_.block_shape = fmt::format("[{}, KW_COLS]", rows_text_);
      const std::string acc = e_.accumulator("part_of", type, e_.identity(value.fn, type), true);
      over(count, [&](VarId column) {
        const PyExpr next = term(column);
        e_.assign(acc, e_.combine(value.fn, {acc, type, true, e_.depth()},
                                  {whole(next, column, value.fn, type, 0), type, true, e_.depth()})
                           .text);
      });
      e_.line(fmt::format("{} = {}", name, across(value.fn, acc, type)));
    });
    e_.block_shape = before;
    return e_.converted({name, type, true, 0}, value.dtype);
  }

  PyWriter& writer_;
  const Stage& stage_;
  const bool keep_;
  PyKernel kernel_;
  PyEmitter& e_;
  std::string rows_text_;
  std::map<std::int64_t, VarId> columns_;
  std::set<std::int64_t> made_;
};

bool write_rows(PyWriter& writer, const Stage& stage) {
  if (stage.anchor >= 0 || !stage.has_reductions || !writer.wants("coalesce_rows")) return false;
  const std::int64_t longest = longest_row(writer, stage);
  if (longest < 32) return false;
  std::int64_t widest = longest;
  for (const ValueId root : stage.roots) {
    const Shape& shape = writer.graph.shape(root);
    widest = std::max(widest, numel(shape) / std::max<std::int64_t>(1, product_of(shape, stage.row_dims)));
  }
  if (writer.wants("keep_row_registers") && widest <= kMostInRegisters && Rows(writer, stage, true).write(longest)) return true;
  return Rows(writer, stage, false).write(longest);
}

}  // namespace

const PyFamily triton_rows_family{"rows", write_rows};

}  // namespace kw
