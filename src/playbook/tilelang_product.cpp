// Matrix products in TileLang: tiles of the operands in shared memory, and a tile of the result in the registers of each thread.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/py_stage.h"

namespace kw {
namespace {

class TileLangProduct : PyProduct {
 public:
  TileLangProduct(PyWriter& writer, const Stage& stage) : PyProduct(writer, stage) {}
  static bool writes(const PyWriter& writer, const Stage& stage) {
    return PyProduct::writes(writer, stage) && writer.wants("shared_tile");
  }

  bool write() {
    choose();
    kernel_.grid = {fmt::format("({}) * ({})", ceil_div(rows_, bm_), ceil_div(columns_, bn_)), fmt::format("{}", batches_)};
    e_.line("tx = T.get_thread_binding()");
    e_.line(fmt::format("first_row = bx // ({}) * {}", ceil_div(columns_, bn_), bm_));
    e_.line(fmt::format("first_column = bx % ({}) * {}", ceil_div(columns_, bn_), bn_));
    e_.line(fmt::format("down = tx // ({} // {})", bn_, tn_));
    e_.line(fmt::format("across = tx % ({} // {})", bn_, tn_));
    const Affine batch = batches_ == 1 ? Affine(0) : Affine::variable(e_.position("by", {0, batches_ - 1}, 0));
    // A column more than there is: neighbours that store a row of the operand meet different banks.
    e_.line(fmt::format("left = T.alloc_shared(({} * ({} + 1),), 'float32')", bk_, bm_));
    e_.line(fmt::format("right = T.alloc_shared(({} * {},), 'float32')", bk_, bn_));
    e_.line(fmt::format("sums = T.alloc_local(({} * {},), 'float32')", tm_, tn_));
    e_.line(fmt::format("left_of = T.alloc_local(({},), 'float32')", tm_));
    e_.line(fmt::format("right_of = T.alloc_local(({},), 'float32')", tn_));
    e_.open(fmt::format("for i in T.unroll({} * {}):", tm_, tn_));
    e_.line("sums[i] = T.float32(0)");
    e_.close();
    e_.open(fmt::format("for tile in T.serial({}):", ceil_div(depth_, bk_)));
    bring(batch, true);
    bring(batch, false);
    e_.line("T.sync_threads()");
    multiply();
    e_.line("T.sync_threads()");
    e_.close();
    store(batch);
    return writer_.finish(kernel_);
  }

 private:
  void choose() {
    const bool tiles = writer_.wants("thread_tile") && rows_ > 16 && columns_ > 16;
    if (tiles) {
      bm_ = kernel_.knob("KW_BM", 64, {32, 64, 128});
      bn_ = kernel_.knob("KW_BN", 64, {32, 64, 128});
      bk_ = kernel_.knob("KW_BK", 16, {8, 16, 32});
      tm_ = kernel_.knob("KW_TM", 4, {4, 8});
      tn_ = kernel_.knob("KW_TN", 4, {4, 8});
      kernel_.constraints.emplace_back("KW_BM / KW_TM * (KW_BN / KW_TN) >= 32");
      kernel_.constraints.emplace_back("KW_BM / KW_TM * (KW_BN / KW_TN) <= 1024");
      kernel_.claim("thread_tile");
    }
    kernel_.threads = fmt::format("({} // {}) * ({} // {})", bm_, tm_, bn_, tn_);
    kernel_.claim("shared_tile");
    if (writer_.wants("fuse_tile_epilogue") && stage_.roots[0] != stage_.anchor) kernel_.claim("fuse_tile_epilogue");
    for (const std::size_t operand : {0U, 1U})
      if (writer_.wants("fuse_tile_prologue") && !in_memory(operand)) kernel_.claim("fuse_tile_prologue");
  }

  // A tile of an operand: elements that are next to each other by threads that are; zeros outside.
  void bring(const Affine& batch, bool left) {
    const std::string& side = left ? bm_ : bn_;
    const std::string name = left ? "left" : "right", of = left ? "row_" : "column_";
    const std::string step = e_.unique("step"), at = e_.unique("at"), outer = e_.unique(of), inner = e_.unique("inner");
    const std::string within = e_.unique("within"), deep = e_.unique("deep");
    const std::string count = fmt::format("{} * {}", side, bk_);
    e_.open(fmt::format("for {} in T.serial({}):", step, fmt::format("({0} + {1} - 1) // ({1})", count, kernel_.threads)));
    e_.line(fmt::format("{} = {} * ({}) + tx", at, step, kernel_.threads));
    e_.open(fmt::format("if {} < {}:", at, count));
    e_.line(fmt::format("{} = {} {} {}", within, at, left ? "//" : "%", left ? bk_ : bn_));
    e_.line(fmt::format("{} = {} {} {}", deep, at, left ? "%" : "//", left ? bk_ : bn_));
    e_.line(fmt::format("{} = {} + {}", outer, left ? "first_row" : "first_column", within));
    e_.line(fmt::format("{} = tile * {} + {}", inner, bk_, deep));
    const std::string held = e_.accumulator("held", DType::f32, "T.float32(0)", false);
    const std::int64_t extent = left ? rows_ : columns_;
    e_.open(fmt::format("if {} < {}:", outer, extent));
    e_.open(fmt::format("if {} < {}:", inner, depth_));
    const Affine o = Affine::variable(e_.position(outer, {0, extent - 1}, 0));
    const Affine k = Affine::variable(e_.position(inner, {0, depth_ - 1}, 0));
    e_.assign(held, e_.emit(value_.operands[left ? 0 : 1], left ? Index{batch, o, k} : Index{batch, k, o}).text);
    e_.close();
    e_.close();
    e_.line(left ? fmt::format("{}[{} * ({} + 1) + {}] = {}", name, deep, bm_, within, held)
                 : fmt::format("{}[{} * {} + {}] = {}", name, deep, bn_, within, held));
    e_.close();
    e_.close();
  }

  void multiply() {
    e_.open(fmt::format("for k in T.serial({}):", bk_));
    e_.open(fmt::format("for i in T.unroll({}):", tm_));
    e_.line(fmt::format("left_of[i] = left[k * ({0} + 1) + i * ({0} // {1}) + down]", bm_, tm_));
    e_.close();
    e_.open(fmt::format("for j in T.unroll({}):", tn_));
    e_.line(fmt::format("right_of[j] = right[k * {0} + j * ({0} // {1}) + across]", bn_, tn_));
    e_.close();
    e_.open(fmt::format("for i in T.unroll({}):", tm_));
    e_.open(fmt::format("for j in T.unroll({}):", tn_));
    e_.line(fmt::format("sums[i * {0} + j] = sums[i * {0} + j] + left_of[i] * right_of[j]", tn_));
    e_.close();
    e_.close();
    e_.close();
  }

  // What follows the product, at each index of this thread's tile.
  void store(const Affine& batch) {
    e_.open(fmt::format("for i in T.unroll({}):", tm_));
    e_.open(fmt::format("for j in T.unroll({}):", tn_));
    const std::string row = e_.unique("row"), column = e_.unique("column");
    e_.line(fmt::format("{} = first_row + i * ({} // {}) + down", row, bm_, tm_));
    e_.line(fmt::format("{} = first_column + j * ({} // {}) + across", column, bn_, tn_));
    e_.open(fmt::format("if {} < {}:", row, rows_));
    e_.open(fmt::format("if {} < {}:", column, columns_));
    const Index index{batch, Affine::variable(e_.position(row, {0, rows_ - 1}, 0)),
                      Affine::variable(e_.position(column, {0, columns_ - 1}, 0))};
    finish_at(kernel_, index, {fmt::format("sums[i * {} + j]", tn_), DType::f32, false, e_.depth()});
    for (int opened = 0; opened < 4; ++opened) e_.close();
  }

  std::string bm_ = "16", bn_ = "16", bk_ = "16", tm_ = "1", tn_ = "1";
};

bool write_tilelang_product(PyWriter& writer, const Stage& stage) {
  return TileLangProduct::writes(writer, stage) && TileLangProduct(writer, stage).write();
}

}  // namespace

const PyFamily tilelang_product_family{"product", write_tilelang_product};

}  // namespace kw
