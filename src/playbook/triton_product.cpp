// Matrix products in Triton: a block of the result for each program, summed up by tl.dot over pieces of the inner dimension.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/halves.h"
#include "playbook/py_stage.h"

namespace kw {
namespace {

class TritonProduct : PyProduct {
 public:
  TritonProduct(PyWriter& writer, const Stage& stage) : PyProduct(writer, stage) {}
  using PyProduct::writes;

  bool write() {
    choose();
    const std::string down = ceil_div(rows_, bm_), across = ceil_div(columns_, bn_);
    kernel_.grid = {fmt::format("({}) * ({})", down, across), fmt::format("{}", batches_)};
    if (split_) kernel_.grid.emplace_back("KW_SPLIT");
    e_.block_shape = fmt::format("[{}, {}]", bm_, bn_);
    place(down, across);
    const Affine batch = batches_ == 1 ? Affine(0) : Affine::variable(e_.define("batch", "tl.program_id(1)", {0, batches_ - 1}, 0));
    e_.line(fmt::format("row = (tile_down * {0} + tl.arange(0, {0}))[:, None]", bm_));
    e_.line(fmt::format("column = (tile_across * {0} + tl.arange(0, {0}))[None, :]", bn_));
    const Affine row = Affine::variable(e_.position("row", {0, rows_ - 1}, kAlongRows, fmt::format("(row < {})", rows_)));
    const Affine column =
        Affine::variable(e_.position("column", {0, columns_ - 1}, kAlongColumns, fmt::format("(column < {})", columns_)));
    e_.line(fmt::format("sums = tl.zeros({}, tl.float32)", e_.block_shape));
    sum_up(batch, row, column);
    const Index index{batch, row, column};
    if (split_) return store_parts(index) && add_up();
    finish_at(kernel_, index, {"sums", DType::f32, true, e_.depth()});
    return writer_.finish(kernel_);
  }

 private:
  void choose() {
    const DType factors = factor_type(writer_.graph, stage_.anchor);
    const bool half = is_16_bit(factors);
    const bool tuned = writer_.wants("shared_tile");
    tensor_ = writer_.wants("tensor_core") && tuned && (half || writer_.gpu.precision == "tf32");
    factor_ = !tensor_ || !half ? "" : factors == DType::f16 ? ".to(tl.float16)" : ".to(tl.bfloat16)";
    precision_ = tensor_ && !half ? "tf32" : "ieee";
    const auto side = [&](std::int64_t extent, std::int64_t most) {
      return std::clamp<std::int64_t>(next_power_of_two(extent), 16, most);
    };
    bm_ = fmt::format("{}", side(rows_, 32));
    bn_ = fmt::format("{}", side(columns_, 32));
    bk_ = fmt::format("{}", side(depth_, 32));
    // Not the knob of rows, whose best is one warp: a tile is shared by several.
    if (writer_.wants("launch_shape")) {
      kernel_.claim("launch_shape");
      kernel_.warps = kernel_.knob("KW_TILE_WARPS", 4, {2, 4, 8});
    }
    if (tuned) {
      bm_ = kernel_.knob("KW_BM", side(rows_, 64), {32, 64, 128});
      bn_ = kernel_.knob("KW_BN", side(columns_, 64), {32, 64, 128});
      bk_ = kernel_.knob("KW_BK", side(depth_, 32), {16, 32, 64});
      kernel_.claim("shared_tile");
    }
    if (tensor_) kernel_.claim("tensor_core");
    const bool direct = in_memory(0) && in_memory(1);
    const bool copies = tuned && writer_.wants("async_copy") && direct && writer_.gpu.compute_capability >= 80 &&
                        (tensor_ || !half) && depth_ >= 64 && rows_ >= 32 && columns_ >= 32 && rows_ % 4 == 0 &&
                        columns_ % 4 == 0 && depth_ % 4 == 0;
    if (copies) {
      kernel_.stages = "2";
      kernel_.claim("async_copy");
      if (writer_.wants("multistage")) {
        kernel_.stages = kernel_.knob("KW_STAGES", 3, {3, 4});
        kernel_.claim("multistage");
      }
    }
    if (tuned)
      kernel_.constraints.push_back(
          fmt::format("({} + {}) * {} * 4 * {} <= {}", bm_, bn_, bk_, kernel_.stages, writer_.gpu.shared_bytes_per_block));
    split_ = tuned && writer_.wants("split_k") && depth_ >= 512;
    if (split_) {
      kernel_.knob("KW_SPLIT", 4, {2, 4, 8, 16});
      kernel_.claim("split_k");
    }
    if (writer_.wants("fuse_tile_epilogue") && !split_ && stage_.roots[0] != stage_.anchor) kernel_.claim("fuse_tile_epilogue");
    if (writer_.wants("fuse_tile_prologue") && (!direct)) kernel_.claim("fuse_tile_prologue");
  }

  // Which block this program does: columns of blocks in groups of rows, so that operands are found in the cache again.
  void place(const std::string& down, const std::string& across) {
    e_.line("tile = tl.program_id(0)");
    e_.line(fmt::format("tiles_across = {}", across));
    if (!writer_.wants("launch_shape")) {
      e_.line("tile_down = tile // tiles_across");
      e_.line("tile_across = tile % tiles_across");
      return;
    }
    kernel_.knob("KW_GROUP", 4, {1, 2, 4, 8});
    e_.line(fmt::format("tiles_down = {}", down));
    e_.line("first_down = tile // (KW_GROUP * tiles_across) * KW_GROUP");
    e_.line("group = tl.minimum(tiles_down - first_down, KW_GROUP)");
    e_.line("tile_down = first_down + tile % (KW_GROUP * tiles_across) % group");
    e_.line("tile_across = tile % (KW_GROUP * tiles_across) // group");
  }

  void sum_up(const Affine& batch, const Affine& row, const Affine& column) {
    std::string begin = "0", end = fmt::format("{}", depth_);
    if (split_) {
      e_.line(fmt::format("part_depth = ({0} + KW_SPLIT * {1} - 1) // (KW_SPLIT * {1}) * {1}", depth_, bk_));
      begin = "tl.program_id(2) * part_depth";
      end = fmt::format("tl.minimum({}, (tl.program_id(2) + 1) * part_depth)", depth_);
    }
    e_.open(fmt::format("for k in range({}, {}, {}):", begin, end, bk_));
    e_.line(fmt::format("inner_left = (k + tl.arange(0, {}))[None, :]", bk_));
    e_.line(fmt::format("inner_right = (k + tl.arange(0, {}))[:, None]", bk_));
    const auto inner = [&](const char* name, unsigned axis) {
      return Affine::variable(e_.position(name, {0, depth_ - 1}, axis, fmt::format("({} < {})", name, depth_)));
    };
    const auto factor = [&](const char* name, ValueId id, const Index& at, const std::string& shape, const std::string& mask) {
      PyExpr value = e_.emit(id, at);
      // What is computed of nothing may be more than nothing: only loads alone are zero outside.
      const bool zero = e_.place_of(behind_widening(writer_.graph, id), at).found;
      std::string text = fmt::format("tl.broadcast_to({}, {})", value.text, shape);
      if (!zero) text = fmt::format("tl.where({}, {}, 0.0)", mask, text);
      e_.line(fmt::format("{} = ({}){}", name, text, factor_));
    };
    const Affine left = inner("inner_left", kAlongColumns), right = inner("inner_right", kAlongRows);
    factor("left", value_.operands[0], {batch, row, left}, fmt::format("({}, {})", bm_, bk_), e_.mask_of({row, left}));
    factor("right", value_.operands[1], {batch, right, column}, fmt::format("({}, {})", bk_, bn_), e_.mask_of({right, column}));
    e_.line(fmt::format("sums = tl.dot(left, right, sums, input_precision=\"{}\")", precision_));
    e_.close();
  }

  bool store_parts(const Index& index) {
    const std::int64_t count = batches_ * rows_ * columns_;
    partial_ = writer_.scratch("partial", DType::f32, fmt::format("KW_SPLIT * {}", count));
    const Affine position = PyEmitter::flatten(index, value_.shape);
    e_.line(fmt::format("tl.store({} + tl.program_id(2) * {} + ({}), sums, mask={})", partial_, count,
                        e_.spread_over_block(e_.text(position), index, position), e_.mask_of(index)));
    return writer_.finish(kernel_);
  }

  bool add_up() {
    PyKernel kernel = writer_.kernel("add_up");
    const std::int64_t count = batches_ * rows_ * columns_;
    kernel.knob("KW_SPLIT", 4, {2, 4, 8, 16});
    kernel.grid = {ceil_div(count, "128")};
    kernel.e.block_shape = "[128]";
    kernel.e.line("i = tl.program_id(0) * 128 + tl.arange(0, 128)");
    const VarId at = kernel.e.position("i", {0, count - 1}, kAlongColumns, fmt::format("(i < {})", count));
    kernel.e.line("sums = tl.zeros([128], tl.float32)");
    kernel.e.open("for part in range(0, KW_SPLIT):");
    kernel.e.line(fmt::format("sums += tl.load({} + part * {} + i, mask=(i < {}), other=0)", partial_, count, count));
    kernel.e.close();
    finish_at(kernel, kernel.e.unflatten(Affine::variable(at), value_.shape), {"sums", DType::f32, true, kernel.e.depth()});
    if (writer_.wants("fuse_tile_epilogue") && stage_.roots[0] != stage_.anchor) kernel.claim("fuse_tile_epilogue");
    return writer_.finish(kernel);
  }

  std::string bm_, bn_, bk_, factor_, precision_, partial_;
  bool tensor_ = false, split_ = false;
};

bool write_product(PyWriter& writer, const Stage& stage) {
  return TritonProduct::writes(writer, stage) && TritonProduct(writer, stage).write();
}

}  // namespace

const PyFamily triton_product_family{"product", write_product};

}  // namespace kw
