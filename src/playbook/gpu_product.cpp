// Matrix products by tiles in shared memory: one element a thread, or a tile of them in its registers.
#include "playbook/gpu_product.h"

#include <algorithm>

#include <fmt/format.h>

#include "playbook/reach.h"

namespace kw {
namespace {

// Whether neighbours along `var` are neighbours in memory, in what a value reads first.
bool runs_along(GpuKernel& probe, const Graph& graph, ValueId value, const Index& index, VarId var) {
  const auto place = probe.e.place_of(value, index);
  if (place.found) return place.position.coefficient(var) == 1;
  const Value& of = graph.at(value);
  if (of.kind != ValueKind::pointwise) return false;
  return std::ranges::any_of(of.operands, [&](ValueId operand) { return runs_along(probe, graph, operand, index, var); });
}

void look_at(GpuWriter& writer, const GpuProduct& product, GpuOperand& operand) {
  GpuKernel probe = writer.kernel("probe");
  const VarId batch = probe.e.variable("b", product.batches);
  const VarId outer = probe.e.variable("r", operand.extent);
  const VarId depth = probe.e.variable("k", product.depth);
  probe.e.open("{", {batch, outer, depth});
  const Index index = operand.index(Affine::variable(batch), Affine::variable(outer), Affine::variable(depth));
  operand.direct = probe.e.place_of(operand.value, index).found;
  const bool along_outer = operand.extent > 1 && runs_along(probe, writer.graph, operand.value, index, outer);
  operand.along_depth = !along_outer && (operand.left || runs_along(probe, writer.graph, operand.value, index, depth));
}

struct TileForm {
  bool vector_left = false, vector_right = false, vector_out = false;
  bool async = false;
  bool stages = false;
  bool split = false;
};

// Whether vectors of four of an operand never reach over an edge.
bool whole_vectors(const GpuProduct& product, const GpuOperand& operand) {
  return (operand.along_depth ? product.depth : operand.extent) % 4 == 0;
}

std::string stage_text(const GpuOperand& operand, const std::string& outer) {
  return operand.along_depth ? fmt::format("{} * (KW_BK + KW_PAD)", outer) : fmt::format("KW_BK * ({} + KW_PAD)", outer);
}

// The element of a thread's tile that `i` is, in its block's tile.
std::string own_position(const GpuOperand& operand, const std::string& i, const std::string& thread, const std::string& across) {
  return operand.along_depth ? fmt::format("{} * {} + {}", i, across, thread)
                             : fmt::format("({0} / 4 * {1} + {2}) * 4 + {0} % 4", i, across, thread);
}

class TileProduct {
 public:
  TileProduct(GpuWriter& writer, const Stage& stage, const GpuProduct& product, const TileForm& form)
      : writer_(writer), stage_(stage), product_(product), form_(form), kernel_(writer.kernel("product_tiles")), e_(kernel_.e) {}

  bool write() {
    knobs();
    opening();
    copies();
    multiplication();
    loops();
    form_.split ? partial_results() : results();
    return writer_.finish(kernel_) && (!form_.split || add_up());
  }

 private:
  void knobs() {
    const std::int64_t tiles = product_.batches * ((product_.rows + 127) / 128) * ((product_.columns + 127) / 128);
    const auto side = [&](std::int64_t extent) {
      return std::int64_t{extent <= 32 ? 32 : extent <= 64 || tiles < writer_.gpu.sms ? 64 : 128};
    };
    const std::int64_t rows = side(product_.rows), columns = side(product_.columns);
    kernel_.knob("KW_BM", rows, {32, 64, 128});
    kernel_.knob("KW_BN", columns, {32, 64, 128});
    kernel_.knob("KW_BK", 16, {8, 16, 32});
    kernel_.knob("KW_TM", rows == 128 ? 8 : 4, {4, 8});
    kernel_.knob("KW_TN", columns == 128 ? 8 : 4, {4, 8});
    kernel_.constraints = {"KW_BM / KW_TM * (KW_BN / KW_TN) >= 32", "KW_BM / KW_TM * (KW_BN / KW_TN) <= 512"};
    if (writer_.wants("avoid_bank_conflicts")) {
      kernel_.knob("KW_PAD", 4, {0, 4, 8});
      kernel_.claim("avoid_bank_conflicts");
    } else {
      kernel_.declarations.emplace_back("#ifndef KW_PAD\n#define KW_PAD 0\n#endif");
    }
    if (form_.stages) kernel_.knob("KW_STAGES", 3, {3, 4, 5});
    if (form_.split) kernel_.knob("KW_SPLIT", 4, {2, 4, 8, 16});
    kernel_.threads = "(KW_BM / KW_TM) * (KW_BN / KW_TN)";
    const std::string parts = form_.split ? fmt::format("{} * KW_SPLIT", product_.batches) : fmt::format("{}", product_.batches);
    kernel_.grid =
        fmt::format("dim3({}, {}, {})", blocks_for(product_.columns, "KW_BN"), blocks_for(product_.rows, "KW_BM"), parts);
    stage_floats_ = fmt::format("({} + {})", stage_text(product_.left, "KW_BM"), stage_text(product_.right, "KW_BN"));
    stages_ = form_.stages ? "KW_STAGES" : "1";
    kernel_.shared_bytes = fmt::format("{} * {} * 4", stages_, stage_floats_);
    if (form_.stages)
      kernel_.constraints.push_back(fmt::format("{} <= {}", kernel_.shared_bytes, writer_.gpu.shared_bytes_per_block));
    kernel_.claim("shared_tile");
    kernel_.claim("thread_tile");
    if (form_.vector_left || form_.vector_right || form_.vector_out) kernel_.claim("vector_load");
    if (form_.async) kernel_.claim("async_copy");
    if (form_.stages) kernel_.claim("multistage");
    if (form_.split) kernel_.claim("split_k");
    if (!form_.split && stage_.roots[0] != product_.value) kernel_.claim("fuse_tile_epilogue");
    if (!product_.left.direct || !product_.right.direct) kernel_.claim("fuse_tile_prologue");
    writer_.bound_registers(kernel_);
  }

  void opening() {
    e_.line("extern __shared__ __align__(16) float tiles[];");
    e_.line("constexpr int across_rows = KW_BM / KW_TM, across_columns = KW_BN / KW_TN;");
    e_.line("const int own_row = threadIdx.x / across_columns, own_column = threadIdx.x % across_columns;");
    e_.line("const int first_row = blockIdx.y * KW_BM, first_column = blockIdx.x * KW_BN;");
    batch_ =
        product_.batches == 1
            ? Affine(0)
            : Affine::variable(e_.define("batch", form_.split ? "blockIdx.z / KW_SPLIT" : "blockIdx.z", {0, product_.batches - 1}));
    if (form_.split) {
      e_.line(fmt::format("constexpr int part_depth = ({} + KW_SPLIT * KW_BK - 1) / (KW_SPLIT * KW_BK) * KW_BK;", product_.depth));
      e_.line("const int part = blockIdx.z % KW_SPLIT, depth_begin = part * part_depth;");
      e_.line(
          fmt::format("const int depth_end = depth_begin + part_depth < {0} ? depth_begin + part_depth : {0};", product_.depth));
    } else {
      e_.line(fmt::format("constexpr int depth_begin = 0, depth_end = {};", product_.depth));
    }
    e_.line(fmt::format("constexpr int right_start = {}, stage_floats = {};", stage_text(product_.left, "KW_BM"), stage_floats_));
    e_.line("float sums[KW_TM][KW_TN] = {};");
  }

  void copies() {
    const auto copy = [&](const GpuOperand& operand, const char* outer, bool vector, const char* name, const char* first) {
      TileCopy how{outer,
                   "KW_BK",
                   operand.along_depth ? "(KW_BK + KW_PAD)" : fmt::format("({} + KW_PAD)", outer),
                   "across_rows * across_columns",
                   vector ? 4 : 1,
                   form_.async && vector && operand.direct,
                   "float",
                   ""};
      write_tile_copy(kernel_, product_, operand, how, name, first, "depth_end", batch_);
    };
    copy(product_.left, "KW_BM", form_.vector_left, "copy_left", "first_row");
    copy(product_.right, "KW_BN", form_.vector_right, "copy_right", "first_column");
  }

  // The part of an operand that a thread multiplies: four steps of depth at once where these are side by side.
  void fragment(const GpuOperand& operand, const char* tile, const char* count, const char* thread, const char* across,
                bool outer) {
    const std::string name = operand.left ? "left_part" : "right_part";
    if (operand.along_depth == outer) {
      e_.line(fmt::format("{} {}[{}];", outer ? "kw_vec" : "float", name, count));
      if (outer) {
        e_.line(fmt::format("#pragma unroll\nfor (int i = 0; i < {0}; ++i) {1}[i] = kw_load({2} + ({3}) * (KW_BK + KW_PAD) + k);",
                            count, name, tile, own_position(operand, "i", thread, across)));
      } else {
        e_.line(
            fmt::format("#pragma unroll\nfor (int i = 0; i < {0}; i += 4) {{\n"
                        "  const kw_vec four = kw_load({1} + (k + step) * ({2} + KW_PAD) + {3});\n"
                        "  for (int u = 0; u < 4; ++u) {4}[i + u] = four.v[u];\n}}",
                        count, tile, operand.left ? "KW_BM" : "KW_BN", own_position(operand, "i", thread, across), name));
      }
    }
  }

  void multiplication() {
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

  void loops() {
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
    e_.line("float* const to = tiles + step % KW_STAGES * stage_floats;");
    e_.line(
        "if (step < steps) {\n  copy_left(to, depth_begin + step * KW_BK);\n  copy_right(to + right_start, depth_begin + step * "
        "KW_BK);\n}");
    e_.line("kw_copy_commit();");
    e_.close("};");
    e_.line("for (int step = 0; step < KW_STAGES - 1; ++step) ask_for(step);");
    e_.open("for (int step = 0; step < steps; ++step) {");
    e_.line("kw_copy_wait<KW_STAGES - 2>();\n__syncthreads();\nask_for(step + KW_STAGES - 1);");
    e_.line("const float* const now = tiles + step % KW_STAGES * stage_floats;\nmultiply(now, now + right_start);");
    e_.close();
  }

  void each_result(const std::function<void(const std::string& row, const std::string& column, const std::string& sum)>& store) {
    const bool vector = form_.vector_out;
    e_.open("#pragma unroll\nfor (int i = 0; i < KW_TM; ++i) {");
    e_.line(fmt::format("const int at_row = first_row + {};", own_position(product_.left, "i", "own_row", "across_rows")));
    e_.open(fmt::format("#pragma unroll\nfor (int j = 0; j < KW_TN; j += {}) {{", vector ? 4 : 1));
    e_.line(
        fmt::format("const int at_column = first_column + {};", own_position(product_.right, "j", "own_column", "across_columns")));
    e_.open(fmt::format("if (({0} % KW_BM == 0 || at_row < {0}) && ({1} % KW_BN == 0 || at_column < {1})) {{", product_.rows,
                        product_.columns));
    store("at_row", "at_column", vector ? "(kw_vec{{sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]}})" : "sums[i][j]");
    for (int i = 0; i < 3; ++i) e_.close();
  }

  void results() {
    each_result([&](const std::string& row, const std::string& column, const std::string& sum) {
      const VarId r = e_.define("row", row, {0, product_.rows - 1});
      const VarId c = e_.define("column", column, {0, product_.columns - 1}, form_.vector_out);
      store_product(writer_, kernel_, stage_, product_, {batch_, Affine::variable(r), Affine::variable(c)}, sum, form_.vector_out);
    });
  }

  void partial_results() {
    const std::int64_t count = product_.batches * product_.rows * product_.columns;
    partial_ = writer_.scratch("partial", "float", fmt::format("KW_SPLIT * {}", count));
    each_result([&](const std::string& row, const std::string& column, const std::string& sum) {
      const std::string at = fmt::format("part * {} + {} * {} + {} * {} + {}", count, product_.batches == 1 ? "0" : "batch",
                                         product_.rows * product_.columns, row, product_.columns, column);
      e_.line(form_.vector_out ? fmt::format("kw_store({} + {}, {});", partial_, at, sum)
                               : fmt::format("{}[{}] = {};", partial_, at, sum));
    });
  }

  bool add_up() {
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
    if (stage_.roots[0] != product_.value) kernel.claim("fuse_tile_epilogue");
    return writer_.finish(kernel);
  }

  GpuWriter& writer_;
  const Stage& stage_;
  const GpuProduct& product_;
  TileForm form_;
  GpuKernel kernel_;
  Emitter& e_;
  Affine batch_;
  std::string stage_floats_, stages_, partial_;
};

// One element a thread: tiles of 16 by 16.
bool write_plain_tiles(GpuWriter& writer, const Stage& stage, const GpuProduct& product) {
  GpuKernel kernel = writer.kernel("product_squares");
  Emitter& e = kernel.e;
  std::string pad = "0";
  if (writer.wants("avoid_bank_conflicts")) {
    pad = kernel.knob("KW_PAD", 1, {0, 1});
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
  if (stage.roots[0] != product.value) kernel.claim("fuse_tile_epilogue");
  if (!product.left.direct || !product.right.direct) kernel.claim("fuse_tile_prologue");
  return writer.finish(kernel);
}

bool write_product(GpuWriter& writer, const Stage& stage) {
  if (stage.anchor < 0 || writer.graph.at(stage.anchor).kind != ValueKind::product || !writer.wants("shared_tile")) return false;
  const DType dtype = writer.graph.dtype(stage.anchor);
  if (dtype == DType::f64 || !is_floating(dtype)) return false;
  const GpuProduct product = gpu_product(writer, stage);
  if (product.rows < 2 || product.columns < 2 || product.batches > 65535) return false;
  if (!writer.wants("thread_tile") || product.rows < 16 || product.columns < 16) return write_plain_tiles(writer, stage, product);
  const bool floats = writer.graph.dtype(product.left.value) == DType::f32 && writer.graph.dtype(product.right.value) == DType::f32;
  TileForm form;
  form.vector_left = writer.wants("vector_load") && floats && whole_vectors(product, product.left);
  form.vector_right = writer.wants("vector_load") && floats && whole_vectors(product, product.right);
  form.vector_out = writer.wants("vector_load") && !product.right.along_depth && product.columns % 4 == 0 && dtype == DType::f32;
  const bool copies = (form.vector_left && product.left.direct) || (form.vector_right && product.right.direct);
  form.async = writer.wants("async_copy") && copies && writer.gpu.compute_capability >= 80;
  form.stages = form.async && writer.wants("multistage") && product.depth >= 64;
  const std::int64_t tiles = product.batches * ((product.rows + 63) / 64) * ((product.columns + 63) / 64);
  form.split = writer.wants("split_k") && product.depth >= 512 && tiles < 2 * writer.gpu.sms && dtype == DType::f32 &&
               product.batches * 16 <= 65535;
  for (const bool vector_out : {true, false})
    for (const bool vectors : {true, false}) {
      TileForm tried = form;
      if (!vector_out) tried.vector_out = false;
      if (!vectors) tried.vector_left = tried.vector_right = tried.async = tried.stages = false;
      if (TileProduct(writer, stage, product, tried).write()) return true;
    }
  return write_plain_tiles(writer, stage, product);
}

}  // namespace

GpuProduct gpu_product(GpuWriter& writer, const Stage& stage) {
  const Value& value = writer.graph.at(stage.anchor);
  GpuProduct product;
  product.value = stage.anchor;
  product.batches = value.shape[0];
  product.rows = value.shape[1];
  product.columns = value.shape[2];
  product.depth = writer.graph.shape(value.operands[0])[2];
  product.left = {value.operands[0], true, product.rows};
  product.right = {value.operands[1], false, product.columns};
  look_at(writer, product, product.left);
  look_at(writer, product, product.right);
  return product;
}

void write_tile_copy(GpuKernel& kernel, const GpuProduct& product, const GpuOperand& operand, const TileCopy& copy,
                     const std::string& name, const std::string& first, const std::string& depth_end, const Affine& batch) {
  Emitter& e = kernel.e;
  const bool vector = copy.lanes > 1;
  e.open(fmt::format("const auto {} = [&]({}* kw_to, int kw_from) {{", name, copy.element));
  const std::string outer = e.unique("o"), depth = e.unique("d");
  const std::string lanes = vector ? fmt::format(" / {}", copy.lanes) : "";
  const std::string times = vector ? fmt::format(" * {}", copy.lanes) : "";
  e.open(fmt::format("#pragma unroll 4\nfor (int i = threadIdx.x; i < {} * {}{}; i += {}) {{", copy.outer, copy.depth, lanes,
                     copy.threads));
  const std::string& fast = operand.along_depth ? copy.depth : copy.outer;
  e.line(fmt::format("const int {} = i / ({}{}), {} = i % ({}{}){};", operand.along_depth ? outer : depth, fast, lanes,
                     operand.along_depth ? depth : outer, fast, lanes, times));
  const std::string place = !copy.place.empty()   ? fmt::format(fmt::runtime(copy.place), outer, depth)
                            : operand.along_depth ? fmt::format("{} * {} + {}", outer, copy.stride, depth)
                                                  : fmt::format("{} * {} + {}", depth, copy.stride, outer);
  const std::string inside = fmt::format("({0} % {1} == 0 || {2} + {3} < {0}) && kw_from + {4} < {5}", operand.extent, copy.outer,
                                         first, outer, depth, depth_end);
  const auto where = [&] {
    const VarId at =
        e.define("outer", fmt::format("{} + {}", first, outer), {0, operand.extent - 1}, vector && !operand.along_depth);
    const VarId k = e.define("depth", fmt::format("kw_from + {}", depth), {0, product.depth - 1}, vector && operand.along_depth);
    return operand.index(batch, Affine::variable(at), Affine::variable(k));
  };
  if (copy.async) {
    // Nothing is read where it would be outside: the copy fills with zeros.
    e.line(fmt::format("const bool inside = {};", inside));
    const auto at = e.place_of(operand.value, where());
    std::int64_t offset = at.position.constant;
    bool aligned = offset % copy.lanes == 0;
    int units = 0;
    for (const auto& [var, coefficient] : at.position.terms) {
      if (coefficient == 1 && e.is_vector(var))
        ++units;
      else if (coefficient % copy.lanes != 0)
        aligned = false;
    }
    if (!aligned || units != 1) e.set_trouble("copies that are not at multiples of 16 bytes");
    e.line(
        fmt::format("kw_copy16(kw_to + {}, inside ? {} + {} : {}, inside);", place, at.pointer, e.text(at.position), at.pointer));
  } else {
    e.line(vector ? "kw_vec kw_value = kw_splat(0.0f);" : "float kw_value = 0.0f;");
    e.open(fmt::format("if ({}) {{", inside));
    const Expr value = e.emit(operand.value, where());
    e.line(fmt::format("kw_value = {};", vector ? e.as_vector(value).text : value.text));
    e.close();
    e.line(vector ? fmt::format("kw_store(kw_to + {}, kw_value);", place) : fmt::format("kw_to[{}] = kw_value;", place));
  }
  e.close();
  e.close("};");
}

void store_product(GpuWriter& writer, GpuKernel& kernel, const Stage& stage, const GpuProduct& product, const Index& index,
                   const std::string& text, bool vector) {
  Emitter& e = kernel.e;
  const DType dtype = writer.graph.dtype(product.value);
  Expr sum = e.named("sum", text, DType::f32, vector, index);
  if (dtype != DType::f32) sum = e.converted(sum, dtype);
  e.provide(product.value, index, sum);
  const Shape& from = writer.graph.shape(product.value);
  for (const ValueId root : stage.roots) {
    const Shape& to = writer.graph.shape(root);
    const Index at = from == to ? index : e.unflatten(e.flatten(index, from), to);
    e.store(writer.buffer(root), at, e.emit(root, at));
  }
}

const GpuFamily gpu_product_family{"product", write_product};

}  // namespace kw
