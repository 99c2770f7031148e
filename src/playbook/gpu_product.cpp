// Matrix products by tiles in shared memory: one element a thread, or a tile of them in its registers.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/gpu_product.h"

namespace kw {
namespace {

// The element of a thread's tile that `i` is, in its block's tile.
std::string own_position(const GpuOperand& operand, const std::string& i, const std::string& thread, const std::string& across) {
  return operand.along_depth ? fmt::format("{} * {} + {}", i, across, thread)
                             : fmt::format("({0} / 4 * {1} + {2}) * 4 + {0} % 4", i, across, thread);
}

// Each thread a tile of KW_TM by KW_TN, by multiply-adds.
class ThreadTiles : public ProductTiles {
 public:
  ThreadTiles(GpuWriter& writer, const Stage& stage, const GpuProduct& product, const TileForm& form)
      : ProductTiles(writer, stage, product, form, {}, "product_tiles") {}

 protected:
  void choose_tiles() override {
    const auto side = [&](std::int64_t extent) {
      return std::int64_t{extent <= 32 ? 32 : extent <= 64 || product_.tiles(128) < writer_.gpu.sms ? 64 : 128};
    };
    const std::int64_t rows = side(product_.rows), columns = side(product_.columns);
    kernel_.knob("KW_BM", rows, {32, 64, 128});
    kernel_.knob("KW_BN", columns, {32, 64, 128});
    kernel_.knob("KW_BK", 16, {8, 16, 32});
    kernel_.knob("KW_TM", rows == 128 ? 8 : 4, {4, 8});
    kernel_.knob("KW_TN", columns == 128 ? 8 : 4, {4, 8});
    kernel_.constraints = {"KW_BM / KW_TM * (KW_BN / KW_TN) >= 32", "KW_BM / KW_TM * (KW_BN / KW_TN) <= 512"};
    pad_rows("KW_PAD", 4, {0, 4, 8});
    kernel_.threads = "(KW_BM / KW_TM) * (KW_BN / KW_TN)";
    kernel_.claim("thread_tile");
  }

  void open_sums() override {
    e_.line("constexpr int across_rows = KW_BM / KW_TM, across_columns = KW_BN / KW_TN;");
    e_.line("const int own_row = threadIdx.x / across_columns, own_column = threadIdx.x % across_columns;");
    e_.line("float sums[KW_TM][KW_TN] = {};");
  }

  void write_multiply() override {
    e_.open("const auto multiply = [&](const float* left, const float* right) {");
    e_.open("for (int k = 0; k < KW_BK; k += 4) {");
    const auto both = [&](bool outer) {
      fragment(product_.left, "left", "KW_TM", "own_row", "across_rows", outer);
      fragment(product_.right, "right", "KW_TN", "own_column", "across_columns", outer);
    };
    both(true);
    e_.open("#pragma unroll\nfor (int step = 0; step < 4; ++step) {");
    both(false);
    const std::string left = product_.left.along_depth ? "left_part[i].v[step]" : "left_part[i]";
    const std::string right = product_.right.along_depth ? "right_part[j].v[step]" : "right_part[j]";
    e_.line(
        fmt::format("#pragma unroll\nfor (int i = 0; i < KW_TM; ++i)\n#pragma unroll\n"
                    "  for (int j = 0; j < KW_TN; ++j) sums[i][j] += {} * {};",
                    left, right));
    e_.close();
    e_.close();
    e_.close("};");
  }

  void each_result(const StoreResult& store) override {
    const bool vector = form_.vector_out;
    e_.open("#pragma unroll\nfor (int i = 0; i < KW_TM; ++i) {");
    e_.line(fmt::format("const int at_row = first_row + {};", own_position(product_.left, "i", "own_row", "across_rows")));
    e_.open(fmt::format("#pragma unroll\nfor (int j = 0; j < KW_TN; j += {}) {{", vector ? 4 : 1));
    e_.line(
        fmt::format("const int at_column = first_column + {};", own_position(product_.right, "j", "own_column", "across_columns")));
    open_inside();
    store("at_row", "at_column", vector ? "(kw_vec{{sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]}})" : "sums[i][j]");
    for (int i = 0; i < 3; ++i) e_.close();
  }

 private:
  // The part of an operand that a thread multiplies: four steps of depth at once where these are side by side.
  void fragment(const GpuOperand& operand, const char* tile, const char* count, const char* thread, const char* across,
                bool outer) {
    const std::string name = operand.left ? "left_part" : "right_part";
    if (operand.along_depth == outer) {
      e_.line(fmt::format("{} {}[{}];", outer ? "kw_vec" : "float", name, count));
      if (outer) {
        e_.line(fmt::format("#pragma unroll\nfor (int i = 0; i < {0}; ++i) {1}[i] = kw_load({2} + {3});", count, name, tile,
                            fmt::format(fmt::runtime(place(operand)), own_position(operand, "i", thread, across), "k")));
      } else {
        e_.line(fmt::format(
            "#pragma unroll\nfor (int i = 0; i < {0}; i += 4) {{\n"
            "  const kw_vec four = kw_load({1} + {2});\n"
            "  for (int u = 0; u < 4; ++u) {3}[i + u] = four.v[u];\n}}",
            count, tile, fmt::format(fmt::runtime(place(operand)), "k + step", own_position(operand, "i", thread, across)), name));
      }
    }
  }
};

// One element a thread: tiles of 16 by 16.
bool write_plain_tiles(GpuWriter& writer, const Stage& stage, const GpuProduct& product) {
  GpuKernel kernel = writer.kernel("product_squares");
  Emitter& e = kernel.e;
  std::string pad = "0";
  if (writer.wants("avoid_bank_conflicts")) {
    pad = kernel.knob("KW_PAD_ONE", 1, {0, 1});
    kernel.claim("avoid_bank_conflicts");
  }
  kernel.threads = "256";
  kernel.grid = fmt::format("dim3({}, {}, {})", blocks_for(product.columns, "16"), blocks_for(product.rows, "16"), product.batches);
  e.line(fmt::format("__shared__ float kw_left[16][16 + {0}], kw_right[16][16 + {0}];", pad));
  e.line("const int kw_x = threadIdx.x % 16, kw_y = threadIdx.x / 16;");
  e.line("const int at_row = blockIdx.y * 16 + kw_y, at_column = blockIdx.x * 16 + kw_x;");
  const Affine batch =
      product.batches == 1 ? Affine(0) : Affine::variable(e.define("batch", "blockIdx.z", {0, product.batches - 1}));
  e.line("float dot = 0.0f;");
  e.open(fmt::format("for (int k0 = 0; k0 < {}; k0 += 16) {{", product.depth));
  const auto element = [&](const GpuOperand& operand, const char* tile, const char* outer, const char* inner) {
    e.line(fmt::format("{}[kw_y][kw_x] = 0.0f;", tile));
    e.open(fmt::format("if ({} < {} && {} < {}) {{", outer, operand.extent, inner, product.depth));
    const VarId o = e.define("outer", outer, {0, operand.extent - 1});
    const VarId k = e.define("depth", inner, {0, product.depth - 1});
    const Expr value = e.emit(operand.value, operand.index(batch, Affine::variable(o), Affine::variable(k)));
    e.line(fmt::format("{}[kw_y][kw_x] = {};", tile, value.text));
    e.close();
  };
  element(product.left, "kw_left", "at_row", "k0 + kw_x");
  element(product.right, "kw_right", "at_column", "k0 + kw_y");
  e.line(
      "__syncthreads();\n#pragma unroll\nfor (int step = 0; step < 16; ++step) dot += kw_left[kw_y][step] * "
      "kw_right[step][kw_x];\n__syncthreads();");
  e.close();
  e.open(fmt::format("if (at_row < {} && at_column < {}) {{", product.rows, product.columns));
  const VarId row = e.define("row", "at_row", {0, product.rows - 1});
  const VarId column = e.define("column", "at_column", {0, product.columns - 1});
  store_product(writer, kernel, stage, product, {batch, Affine::variable(row), Affine::variable(column)}, "dot", false);
  e.close();
  kernel.claim("shared_tile");
  if (writer.wants("fuse_tile_epilogue") && stage.roots[0] != product.value) kernel.claim("fuse_tile_epilogue");
  if (writer.wants("fuse_tile_prologue") && (!product.left.direct || !product.right.direct)) kernel.claim("fuse_tile_prologue");
  return writer.finish(kernel);
}

bool write_product(GpuWriter& writer, const Stage& stage) {
  if (stage.anchor < 0 || writer.graph.at(stage.anchor).kind != ValueKind::product || !writer.wants("shared_tile")) return false;
  const DType dtype = writer.graph.dtype(stage.anchor);
  if (dtype == DType::f64 || !is_floating(dtype)) return false;
  const GpuProduct product = gpu_product(writer, stage);
  if (product.rows < 2 || product.columns < 2 || product.batches > 65535) return false;
  if (!writer.wants("thread_tile") || product.rows < 16 || product.columns < 16) return write_plain_tiles(writer, stage, product);
  TileForm form = tile_form(writer, product, {});
  form.split = form.split && dtype == DType::f32;
  form.vector_out = writer.wants("vector_load") && !product.right.along_depth && product.columns % 4 == 0 && dtype == DType::f32;
  for (const bool vector_out : {true, false})
    for (const bool vectors : {true, false}) {
      TileForm tried = form;
      if (!vector_out) tried.vector_out = false;
      if (!vectors) tried.vector_left = tried.vector_right = tried.async = tried.stages = false;
      if (ThreadTiles(writer, stage, product, tried).write()) return true;
    }
  return write_plain_tiles(writer, stage, product);
}

}  // namespace

const GpuFamily gpu_product_family{"product", write_product};

}  // namespace kw
