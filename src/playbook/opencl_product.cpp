// Matrix products on a CPU: a work-item has a tile of the product in vectors, and the right operand is laid out in panels as wide
// as a tile, so that every load is whole and one behind the other.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/gpu_product.h"

namespace kw {
namespace {

constexpr std::int64_t kLongDot = 2048;  // a running float sum of more terms would show beside PyTorch's

class PanelProduct {
 public:
  PanelProduct(GpuWriter& writer, const Stage& stage, const GpuProduct& product)
      : writer_(writer), stage_(stage), product_(product), prepack_(prepacks(writer, product)) {}

  bool write() {
    if (product_.rows < 4 && !prepack_) return false;  // laying it out would cost as much as multiplying
    const std::string count = fmt::format("{} * {} * {} * ({})", product_.batches, panels(), product_.depth, kWidth);
    packed_ = writer_.scratch("panels", "float", count);
    pack();
    return multiply(true) || multiply(false);
  }

 private:
  static constexpr const char* kWidth = "KW_NV * kw_lanes";

  static bool prepacks(const GpuWriter& writer, const GpuProduct& product) {
    return writer.wants("prepack") && writer.plan.from_parameters.contains(product.right.value) && product.right.direct &&
           !writer.plan.buffers.contains(product.right.value);
  }
  [[nodiscard]] std::string panels() const { return fmt::format("(({0} + {1} - 1) / ({1}))", product_.columns, kWidth); }
  static void knobs(GpuKernel& kernel) { kernel.knob("KW_NV", 2, {1, 2, 3}); }

  // A work-item for each row of each panel; columns past the last are zeros.
  void pack() {
    GpuKernel kernel = writer_.kernel("lay_out_panels");
    Emitter& e = kernel.e;
    knobs(kernel);
    kernel.prepare = prepack_;
    kernel.threads = "16";
    const std::string count = fmt::format("{} * {} * {}", product_.batches, panels(), product_.depth);
    kernel.grid = fmt::format("({} + 15) / 16", count);
    e.line("const int item = blockIdx.x * 16 + threadIdx.x;");
    e.line(fmt::format("if (item >= {}) return;", count));
    const VarId depth = e.define("depth", fmt::format("item % {}", product_.depth), {0, product_.depth - 1});
    e.line(fmt::format("const int panel = item / {} % {};", product_.depth, panels()));
    const VarId batch = e.define("batch", fmt::format("item / ({} * {})", product_.depth, panels()), {0, product_.batches - 1});
    e.open(fmt::format("for (int across = 0; across < {}; ++across) {{", kWidth));
    e.line("float kw_value = 0.0f;");
    e.open(fmt::format("if (panel * ({}) + across < {}) {{", kWidth, product_.columns));
    const VarId column = e.define("column", fmt::format("panel * ({}) + across", kWidth), {0, product_.columns - 1});
    const Index index = product_.right.index(Affine::variable(batch), Affine::variable(column), Affine::variable(depth));
    e.line(fmt::format("kw_value = {};", e.emit(product_.right.value, index).text));
    e.close();
    e.line(fmt::format("{}[(long)item * ({}) + across] = kw_value;", packed_, kWidth));
    e.close();
    if (prepack_) kernel.claim("prepack");
    writer_.finish(kernel);
  }

  bool multiply(bool vectors_out) {
    GpuKernel kernel = writer_.kernel("multiply_panels");
    Emitter& e = kernel.e;
    knobs(kernel);
    kernel.knob("KW_LANES", 8, {4, 8, 16});
    kernel.knob("KW_MR", std::min<std::int64_t>(product_.rows, 4), {1, 2, 4, 6, 8});
    kernel.constraints = {"KW_MR * KW_NV <= 16"};
    const std::string threads = writer_.block_threads(kernel, 1, {1, 2, 4, 8});
    const std::string tiles = fmt::format("(({} + KW_MR - 1) / KW_MR)", product_.rows);
    const std::string count = fmt::format("{} * {} * {}", product_.batches, panels(), tiles);
    kernel.grid = fmt::format("({0} + {1} - 1) / {1}", count, threads);
    e.line(fmt::format("const int item = blockIdx.x * {} + threadIdx.x;", threads));
    e.line(fmt::format("if (item >= {}) return;", count));
    // Neighbours have the same panel, which stays in the cache.
    e.line(fmt::format("const int first_row = item % {0} * KW_MR, panel = item / {0} % {1};", tiles, panels()));
    const VarId batch = e.define("batch", fmt::format("item / ({} * {})", tiles, panels()), {0, product_.batches - 1});
    e.line(fmt::format("const __global float* kw_right = {} + ((long)(batch * {} + panel)) * ({} * ({}));", packed_, panels(),
                       product_.depth, kWidth));
    e.line("kw_vec sums[KW_MR][KW_NV];");
    each_sum(e, "sums[m][v] = kw_splat(0.0f);");
    const bool split = product_.depth > 2 * kLongDot;
    if (split) {
      e.line("kw_vec totals[KW_MR][KW_NV];");
      each_sum(e, "totals[m][v] = kw_splat(0.0f);");
    }
    const VarId k = e.open_loop("k", product_.depth);
    e.line("kw_vec right[KW_NV];");
    e.line(fmt::format(
        "#pragma unroll\nfor (int v = 0; v < KW_NV; ++v) right[v] = kw_load(kw_right + (long){} * ({}) + v * kw_lanes);", e.name(k),
        kWidth));
    e.open("#pragma unroll\nfor (int m = 0; m < KW_MR; ++m) {");
    const VarId row =
        e.define("row", fmt::format("first_row + m < {0} ? first_row + m : {0} - 1", product_.rows), {0, product_.rows - 1});
    const Expr left =
        e.emit(product_.left.value, product_.left.index(Affine::variable(batch), Affine::variable(row), Affine::variable(k)));
    e.line(fmt::format("const kw_vec left = kw_splat({});", left.text));
    e.line("#pragma unroll\nfor (int v = 0; v < KW_NV; ++v) sums[m][v] = fma(left, right[v], sums[m][v]);");
    e.close();
    if (split) {
      e.open(fmt::format("if (({0} + 1) % {1} == 0 || {0} + 1 == {2}) {{", e.name(k), kLongDot, product_.depth));
      each_sum(e, "totals[m][v] += sums[m][v], sums[m][v] = kw_splat(0.0f);");
      e.close();
    }
    e.close();
    results(kernel, Affine::variable(batch), split ? "totals" : "sums", vectors_out);
    kernel.claim("register_tile");
    if (stage_.roots[0] != product_.value) kernel.claim("fuse_tile_epilogue");
    return writer_.finish(kernel);
  }

  static void each_sum(Emitter& e, const std::string& text) {
    e.line("#pragma unroll\nfor (int m = 0; m < KW_MR; ++m)\n#pragma unroll\n  for (int v = 0; v < KW_NV; ++v) " + text);
  }

  void results(GpuKernel& kernel, const Affine& batch, const std::string& sums, bool vectors_out) {
    Emitter& e = kernel.e;
    e.open("#pragma unroll\nfor (int m = 0; m < KW_MR; ++m) {");
    const VarId row = e.define("row", "first_row + m", {0, product_.rows - 1});
    e.line(fmt::format("if ({} >= {}) continue;", e.name(row), product_.rows));
    e.open("#pragma unroll\nfor (int v = 0; v < KW_NV; ++v) {");
    e.line(fmt::format("const int first_column = panel * ({}) + v * kw_lanes;", kWidth));
    if (vectors_out) {
      e.open(fmt::format("if (first_column + kw_lanes <= {}) {{", product_.columns));
      const VarId column = e.define("column", "first_column", {0, product_.columns - 1}, true);
      store_product(writer_, kernel, stage_, product_, {batch, Affine::variable(row), Affine::variable(column)}, sums + "[m][v]",
                    true);
      e.close(product_.columns % 16 == 0 ? "}" : "} else {");
    } else {
      e.open("{");
    }
    if (!vectors_out || product_.columns % 16 != 0) {
      if (vectors_out) e.open("{");
      e.line(fmt::format("float lane[KW_LANES];\nkw_store(lane, {}[m][v]);", sums));
      e.open(fmt::format("for (int l = 0; l < kw_lanes && first_column + l < {}; ++l) {{", product_.columns));
      const VarId column = e.define("column", "first_column + l", {0, product_.columns - 1});
      store_product(writer_, kernel, stage_, product_, {batch, Affine::variable(row), Affine::variable(column)}, "lane[l]", false);
      e.close();
      e.close();
      if (vectors_out) e.line("}");
    }
    e.close();
    e.close();
  }

  GpuWriter& writer_;
  const Stage& stage_;
  const GpuProduct& product_;
  const bool prepack_;
  std::string packed_;
};

bool write_opencl_product(GpuWriter& writer, const Stage& stage) {
  if (stage.anchor < 0 || writer.graph.at(stage.anchor).kind != ValueKind::product || !writer.wants("register_tile")) return false;
  if (writer.graph.dtype(stage.anchor) != DType::f32) return false;
  const GpuProduct product = gpu_product(writer, stage);
  if (product.columns < 4 || product.batches * product.depth * product.columns > (std::int64_t{1} << 30)) return false;
  return PanelProduct(writer, stage, product).write();
}

}  // namespace

const GpuFamily opencl_product_family{"product", write_opencl_product};

}  // namespace kw
