// The frame of products by tiles in shared memory: copies, the loop over the inner dimension, results and partial results.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/gpu_product.h"

namespace kw {

TileForm tile_form(const GpuWriter& writer, const GpuProduct& product, const TileElement& element) {
  const bool half = element.bytes == 2;
  const auto vector = [&](const GpuOperand& operand) {
    return writer.wants("vector_load") && product.whole_pieces(operand, element.lanes()) &&
           (!half || element.is_in_memory(operand));
  };
  TileForm form;
  form.vector_left = vector(product.left);
  form.vector_right = vector(product.right);
  const bool copies =
      (form.vector_left && element.is_in_memory(product.left)) || (form.vector_right && element.is_in_memory(product.right));
  form.async = writer.wants("async_copy") && copies && writer.gpu.compute_capability >= 80;
  form.stages = form.async && writer.wants("multistage") && product.depth >= 64;
  form.split =
      writer.wants("split_k") && product.depth >= 512 && product.tiles(64) < 2 * writer.gpu.sms && product.batches * 16 <= 65535;
  return form;
}

bool ProductTiles::write() {
  frame();
  opening();
  copies();
  write_multiply();
  loops();
  form_.split ? partial_results() : results();
  return writer_.finish(kernel_) && (!form_.split || add_up());
}

std::string ProductTiles::row_length(const GpuOperand& operand) {
  return operand.along_depth ? "KW_BK" : operand.left ? "KW_BM" : "KW_BN";
}

std::string ProductTiles::tile_text(const GpuOperand& operand) const {
  const char* outer = operand.left ? "KW_BM" : "KW_BN";
  return fmt::format("{} * ({} + {})", operand.along_depth ? outer : "KW_BK", row_length(operand), pad_);
}

std::string ProductTiles::place(const GpuOperand& operand) const {
  return fmt::format("({{0}}) * ({} + {}) + {{1}}", row_length(operand), pad_);
}

void ProductTiles::pad_rows(const char* knob, std::int64_t standard, const std::vector<std::int64_t>& values) {
  if (!writer_.wants("avoid_bank_conflicts")) return;
  pad_ = kernel_.knob(knob, standard, values);
  kernel_.claim("avoid_bank_conflicts");
}

void ProductTiles::frame() {
  choose_tiles();
  if (form_.stages) kernel_.knob("KW_STAGES", 3, {3, 4, 5});
  if (form_.split) kernel_.knob("KW_SPLIT", 4, {2, 4, 8, 16});
  const std::string parts = form_.split ? fmt::format("{} * KW_SPLIT", product_.batches) : fmt::format("{}", product_.batches);
  kernel_.grid = fmt::format("dim3({}, {}, {})", blocks_for(product_.columns, "KW_BN"), blocks_for(product_.rows, "KW_BM"), parts);
  kernel_.shared_bytes = fmt::format("{} * ({} + {}) * {}", form_.stages ? "KW_STAGES" : "1", tile_text(product_.left),
                                     tile_text(product_.right), element_.bytes);
  kernel_.constraints.push_back(fmt::format("{} <= {}", kernel_.shared_bytes, writer_.gpu.shared_bytes_per_block));
  kernel_.claim("shared_tile");
  if (form_.vector_left || form_.vector_right || form_.vector_out) kernel_.claim("vector_load");
  if (form_.async) kernel_.claim("async_copy");
  if (form_.stages) kernel_.claim("multistage");
  if (form_.split) kernel_.claim("split_k");
  if (writer_.wants("fuse_tile_epilogue") && !form_.split && stage_.roots[0] != product_.value) kernel_.claim("fuse_tile_epilogue");
  if (writer_.wants("fuse_tile_prologue") && (!product_.left.direct || !product_.right.direct)) kernel_.claim("fuse_tile_prologue");
  writer_.bound_registers(kernel_);
}

void ProductTiles::opening() {
  e_.line("extern __shared__ __align__(16) unsigned char kw_room[];");
  e_.line(fmt::format("{0}* const tiles = reinterpret_cast<{0}*>(kw_room);", element_.name));
  e_.line("const int first_row = blockIdx.y * KW_BM, first_column = blockIdx.x * KW_BN;");
  batch_ =
      product_.batches == 1
          ? Affine(0)
          : Affine::variable(e_.define("batch", form_.split ? "blockIdx.z / KW_SPLIT" : "blockIdx.z", {0, product_.batches - 1}));
  if (form_.split) {
    e_.line(fmt::format("constexpr int part_depth = ({} + KW_SPLIT * KW_BK - 1) / (KW_SPLIT * KW_BK) * KW_BK;", product_.depth));
    e_.line("const int part = blockIdx.z % KW_SPLIT, depth_begin = part * part_depth;");
    e_.line(fmt::format("const int depth_end = depth_begin + part_depth < {0} ? depth_begin + part_depth : {0};", product_.depth));
  } else {
    e_.line(fmt::format("constexpr int depth_begin = 0, depth_end = {};", product_.depth));
  }
  e_.line(fmt::format("constexpr int right_start = {}, stage_size = right_start + {};", tile_text(product_.left),
                      tile_text(product_.right)));
  open_sums();
}

void ProductTiles::copies() {
  const auto copy = [&](const GpuOperand& operand, bool vector, const char* name, const char* first) {
    const TileCopy how{operand.left ? "KW_BM" : "KW_BN",
                       "KW_BK",
                       kernel_.threads,
                       element_,
                       vector,
                       form_.async && vector && element_.is_in_memory(operand),
                       place(operand)};
    write_tile_copy(kernel_, product_, operand, how, name, first, "depth_end", batch_);
  };
  copy(product_.left, form_.vector_left, "copy_left", "first_row");
  copy(product_.right, form_.vector_right, "copy_right", "first_column");
}

void ProductTiles::loops() {
  if (!form_.stages) {
    e_.open("for (int k0 = depth_begin; k0 < depth_end; k0 += KW_BK) {");
    e_.line("copy_left(tiles, k0);\ncopy_right(tiles + right_start, k0);");
    if (form_.async) e_.line("kw_copy_commit();\nkw_copy_wait<0>();");
    e_.line("__syncthreads();\nmultiply(tiles, tiles + right_start);\n__syncthreads();");
    e_.close();
    return;
  }
  e_.line("const int steps = (depth_end - depth_begin + KW_BK - 1) / KW_BK;");
  e_.open("const auto ask_for = [&](int step) {");
  e_.line(fmt::format("{}* const to = tiles + step % KW_STAGES * stage_size;", element_.name));
  e_.line(
      "if (step < steps) {\n  copy_left(to, depth_begin + step * KW_BK);\n  copy_right(to + right_start, depth_begin + step * "
      "KW_BK);\n}");
  e_.line("kw_copy_commit();");
  e_.close("};");
  e_.line("for (int step = 0; step < KW_STAGES - 1; ++step) ask_for(step);");
  e_.open("for (int step = 0; step < steps; ++step) {");
  e_.line("kw_copy_wait<KW_STAGES - 2>();\n__syncthreads();\nask_for(step + KW_STAGES - 1);");
  e_.line(fmt::format("const {}* const now = tiles + step % KW_STAGES * stage_size;\nmultiply(now, now + right_start);",
                      element_.name));
  e_.close();
}

void ProductTiles::open_inside() {
  e_.open(fmt::format("if (({0} % KW_BM == 0 || at_row < {0}) && ({1} % KW_BN == 0 || at_column < {1})) {{", product_.rows,
                      product_.columns));
}

void ProductTiles::results() {
  each_result([&](const std::string& row, const std::string& column, const std::string& sum) {
    const VarId r = e_.define("row", row, {0, product_.rows - 1});
    const VarId c = e_.define("column", column, {0, product_.columns - 1}, form_.vector_out);
    store_product(writer_, kernel_, stage_, product_, {batch_, Affine::variable(r), Affine::variable(c)}, sum, form_.vector_out);
  });
}

void ProductTiles::partial_results() {
  const std::int64_t count = product_.batches * product_.rows * product_.columns;
  partial_ = writer_.scratch("partial", "float", fmt::format("KW_SPLIT * {}", count));
  each_result([&](const std::string& row, const std::string& column, const std::string& sum) {
    const std::string at = fmt::format("part * {} + {} * {} + {} * {} + {}", count, product_.batches == 1 ? "0" : "batch",
                                       product_.rows * product_.columns, row, product_.columns, column);
    e_.line(form_.vector_out ? fmt::format("kw_store({} + {}, {});", partial_, at, sum)
                             : fmt::format("{}[{}] = {};", partial_, at, sum));
  });
}

bool ProductTiles::add_up() {
  GpuKernel kernel = writer_.kernel("add_up");
  const Shape& shape = writer_.graph.shape(product_.value);
  const std::int64_t count = numel(shape);
  writer_.block_threads(kernel, 256, {64, 128, 256, 512});
  kernel.grid = blocks_for(count, kernel.threads);
  const VarId at = kernel.e.define("i", fmt::format("blockIdx.x * {} + threadIdx.x", kernel.threads), {0, count - 1});
  kernel.e.line(fmt::format("if ({} >= {}) return;", kernel.e.name(at), count));
  kernel.e.line(
      "float dot = 0.0f;\n#pragma unroll\n" +
      fmt::format("for (int part = 0; part < KW_SPLIT; ++part) dot += {}[part * {} + {}];", partial_, count, kernel.e.name(at)));
  store_product(writer_, kernel, stage_, product_, kernel.e.unflatten(Affine::variable(at), shape), "dot", false);
  if (writer_.wants("fuse_tile_epilogue") && stage_.roots[0] != product_.value) kernel.claim("fuse_tile_epilogue");
  return writer_.finish(kernel);
}

}  // namespace kw
