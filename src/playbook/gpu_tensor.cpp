// Matrix products by tensor cores: numbers of 16 bits, or floats under a contract that lets factors be rounded. A warp multiplies
// 16x8 tiles from fragments in registers; sums are floats.
#include <fmt/format.h>

#include "playbook/gpu_product.h"

namespace kw {
namespace {

constexpr int kWarpsDown = 2;  // warps that share the rows of a block's tile

class TensorTiles : public ProductTiles {
 public:
  TensorTiles(GpuWriter& writer, const Stage& stage, const GpuProduct& product, const TileForm& form, const TileElement& element)
      : ProductTiles(writer, stage, product, form, element, "product_tensor"),
        half_(element.bytes == 2),
        swizzled_(half_ && writer.wants("swizzle")) {}

 protected:
  void choose_tiles() override {
    const auto side = [&](std::int64_t extent) {
      return std::int64_t{extent <= 32 ? 32 : extent <= 64 || product_.tiles(128) < writer_.gpu.sms ? 64 : 128};
    };
    kernel_.knob("KW_BM", side(product_.rows), {32, 64, 128});
    kernel_.knob("KW_BN", side(product_.columns), {32, 64, 128});
    kernel_.knob("KW_BK", 32, {16, 32, 64});
    kernel_.knob("KW_WARPS", 2, {1, 2, 4});
    kernel_.constraints = {"KW_BK >= 16", "KW_BN / KW_WARPS >= 16"};
    kernel_.threads = fmt::format("{} * KW_WARPS", kWarpsDown * 32);
    kernel_.claim("tensor_core");
    if (swizzled_)
      kernel_.claim("swizzle");
    else if (half_)
      pad_rows("KW_PAD_HALF", 8, {0, 8});
    else
      pad_rows("KW_PAD", 4, {0, 4, 8});
  }

  [[nodiscard]] std::string place(const GpuOperand& operand) const override {
    if (swizzled_) return fmt::format("kw_swizzled<{}>({{0}}, {{1}})", row_length(operand));
    return ProductTiles::place(operand);
  }

  void open_sums() override {
    e_.line(fmt::format("constexpr int warp_rows = KW_BM / {}, warp_columns = KW_BN / KW_WARPS;", kWarpsDown));
    e_.line("const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;");
    e_.line("const int warp_row = warp / KW_WARPS * warp_rows, warp_column = warp % KW_WARPS * warp_columns;");
    e_.line("float sums[warp_rows / 16][warp_columns / 8][4] = {};");
  }

  void write_multiply() override {
    e_.open(fmt::format("const auto multiply = [&](const {0}* left, const {0}* right) {{", element_.name));
    e_.open(fmt::format("#pragma unroll\nfor (int k = 0; k < KW_BK; k += {}) {{", half_ ? 16 : 8));
    e_.line("unsigned left_part[warp_rows / 16][4], right_part[warp_columns / 16][4];");
    half_ ? load_matrices() : load_numbers();
    const std::string function = half_ ? fmt::format("kw_multiply_{}", element_.name.substr(3)) : "kw_multiply_tf32";
    e_.line(
        fmt::format("#pragma unroll\nfor (int i = 0; i < warp_rows / 16; ++i)\n#pragma unroll\n"
                    "  for (int j = 0; j < warp_columns / 8; ++j)\n"
                    "    {}(sums[i][j], left_part[i], right_part[j / 2][j % 2 * 2], right_part[j / 2][j % 2 * 2 + 1]);",
                    function));
    e_.close();
    e_.close("};");
  }

  void each_result(const StoreResult& store) override {
    e_.open("#pragma unroll\nfor (int i = 0; i < warp_rows / 16; ++i) {");
    e_.open("#pragma unroll\nfor (int j = 0; j < warp_columns / 8; ++j) {");
    e_.open("#pragma unroll\nfor (int u = 0; u < 4; ++u) {");
    e_.line("const int at_row = first_row + warp_row + i * 16 + lane / 4 + u / 2 * 8;");
    e_.line("const int at_column = first_column + warp_column + j * 8 + lane % 4 * 2 + u % 2;");
    open_inside();
    store("at_row", "at_column", "sums[i][j][u]");
    for (int i = 0; i < 4; ++i) e_.close();
  }

 private:
  // Each lane gives the address of one of the 32 rows of four 8x8 matrices. Those of the left are its quarters, above one another
  // first; those of the right two tiles of 8 columns, each with its two halves of depth.
  void load_matrices() {
    const auto load = [&](const GpuOperand& operand, const char* to, const char* tile, const char* count, const char* start) {
      const char* low = "lane % 8 + lane / 8 % 2 * 8";  // the first pair of matrices and its rows, along one dimension
      const char* high = "lane / 16 * 8";               // the second pair
      const char* turned_low = "lane % 8 + lane / 16 * 8";
      const char* turned_high = "lane / 8 % 2 * 8";
      // Rows in shared memory are rows of the matrices where the operand lies as the instruction wants it, columns otherwise.
      const bool as_wanted = operand.along_depth;
      const bool pairs_down = operand.left == as_wanted;
      const std::string outer = fmt::format("{} + i * 16", start);
      const std::string row = fmt::format("{} + {}", as_wanted ? outer : "k", pairs_down ? low : turned_low);
      const std::string column = fmt::format("{} + {}", as_wanted ? "k" : outer, pairs_down ? high : turned_high);
      e_.line(fmt::format("#pragma unroll\nfor (int i = 0; i < {} / 16; ++i) kw_{}matrices({}[i], {} + {});", count,
                          as_wanted ? "" : "turned_", to, tile, fmt::format(fmt::runtime(place(operand)), row, column)));
    };
    load(product_.left, "left_part", "left", "warp_rows", "warp_row");
    load(product_.right, "right_part", "right", "warp_columns", "warp_column");
  }

  void load_numbers() {
    const auto at = [&](const GpuOperand& operand, const std::string& outer, const std::string& depth) {
      return fmt::format(fmt::runtime(place(operand)), operand.along_depth ? outer : depth, operand.along_depth ? depth : outer);
    };
    e_.line(
        fmt::format("#pragma unroll\nfor (int i = 0; i < warp_rows / 16; ++i)\n#pragma unroll\n"
                    "  for (int u = 0; u < 4; ++u) left_part[i][u] = kw_tf32_of(left[{}]);",
                    at(product_.left, "warp_row + i * 16 + lane / 4 + u % 2 * 8", "k + lane % 4 + u / 2 * 4")));
    e_.line(
        fmt::format("#pragma unroll\nfor (int i = 0; i < warp_columns / 16; ++i)\n#pragma unroll\n"
                    "  for (int u = 0; u < 4; ++u) right_part[i][u] = kw_tf32_of(right[{}]);",
                    at(product_.right, "warp_column + i * 16 + u / 2 * 8 + lane / 4", "k + lane % 4 + u % 2 * 4")));
  }

  bool half_;
  bool swizzled_;
};

bool write_tensor(GpuWriter& writer, const Stage& stage) {
  if (stage.anchor < 0 || writer.graph.at(stage.anchor).kind != ValueKind::product) return false;
  if (!writer.wants("tensor_core") || !writer.wants("shared_tile") || writer.gpu.compute_capability < 80) return false;
  const GpuProduct product = gpu_product(writer, stage);
  if (product.rows < 16 || product.columns < 16 || product.batches > 65535) return false;
  TileElement element;
  if (is_16_bit(product.factors))
    element = {std::string(c_type(product.factors)), 2};
  else if (product.factors != DType::f32 || writer.gpu.precision == "float32")
    return false;
  TileForm form = tile_form(writer, product, element);
  if (TensorTiles(writer, stage, product, form, element).write()) return true;
  form.vector_left = form.vector_right = form.async = form.stages = false;
  return TensorTiles(writer, stage, product, form, element).write();
}

}  // namespace

const GpuFamily gpu_tensor_family{"tensor", write_tensor};

}  // namespace kw
