// Matrix products in CuTe: tiles go to shared memory by tiled copies and are multiplied by a tiled product, by tensor cores for
// numbers of 16 bits and by multiply-adds for floats.
#include <algorithm>

#include <tuple>

#include <fmt/format.h>

#include "playbook/gpu_product.h"

namespace kw {
namespace {

// An operand as a tensor (outer, depth): where it starts and its strides, in elements.
struct CuteOperand {
  GpuOperand operand;
  std::string memory;
  std::int64_t start = 0, outer_stride = 1, depth_stride = 1, batch_stride = 0;
  [[nodiscard]] bool along_depth() const { return depth_stride == 1; }
  // Whether pieces of so many elements are whole, and at multiples of their size.
  [[nodiscard]] bool moves(std::int64_t lanes, const GpuProduct& product) const {
    const std::int64_t other = along_depth() ? outer_stride : depth_stride;
    const std::int64_t length = along_depth() ? product.depth : operand.extent;
    return start % lanes == 0 && batch_stride % lanes == 0 && other % lanes == 0 && length % lanes == 0;
  }
};

// False: it is not in memory, or neither dimension runs along it.
bool describe_operand(GpuWriter& writer, const GpuProduct& product, const GpuOperand& operand, CuteOperand& described) {
  GpuKernel probe = writer.kernel("probe");
  const VarId batch = probe.e.variable("b", product.batches);
  const VarId outer = probe.e.variable("r", operand.extent);
  const VarId depth = probe.e.variable("k", product.depth);
  probe.e.open("{", {batch, outer, depth});
  const auto place =
      probe.e.place_of(operand.value, operand.index(Affine::variable(batch), Affine::variable(outer), Affine::variable(depth)));
  if (!place.found) return false;
  for (const auto& [var, coefficient] : place.position.terms)
    if (var != batch && var != outer && var != depth) return false;
  described = {operand,
               place.pointer,
               place.position.constant,
               place.position.coefficient(outer),
               place.position.coefficient(depth),
               place.position.coefficient(batch)};
  return described.outer_stride == 1 || described.depth_stride == 1;
}

struct CuteForm {
  std::int64_t left_lanes = 1, right_lanes = 1;
  bool async = false, stages = false;
};

class CuteProduct {
 public:
  CuteProduct(GpuWriter& writer, const Stage& stage, const GpuProduct& product, const CuteOperand& left, const CuteOperand& right,
              const CuteForm& form)
      : writer_(writer),
        stage_(stage),
        product_(product),
        left_(left),
        right_(right),
        form_(form),
        dtype_(left.operand.memory),
        half_(dtype_ != DType::f32),
        swizzled_(half_ && writer.wants("swizzle")),
        kernel_(writer.kernel("product_cute")),
        e_(kernel_.e) {}

  bool write() {
    choose_tiles();
    open_memory();
    copies(left_, form_.left_lanes, "left", rows_, "first_row");
    copies(right_, form_.right_lanes, "right", columns_, "first_column");
    half_ ? tensor_multiply() : plain_multiply();
    loops();
    results();
    return writer_.finish(kernel_);
  }

 private:
  [[nodiscard]] std::string element() const { return half_ ? (dtype_ == DType::f16 ? "half_t" : "bfloat16_t") : "float"; }

  void choose_tiles() {
    if (half_) {
      const bool few = product_.tiles(128) < writer_.gpu.sms;
      kernel_.knob("KW_BM", few ? 64 : 128, {64, 128});
      kernel_.knob("KW_BN", few ? 64 : 128, {64, 128});
      kernel_.knob("KW_BK", 32, {32, 64});
      std::tie(rows_, columns_, depth_) = std::tuple("KW_BM", "KW_BN", "KW_BK");
      kernel_.knob("KW_WARPS", 2, {2, 4});
      kernel_.threads = "64 * KW_WARPS";
      kernel_.claim("tensor_core");
    } else {
      const bool tile = writer_.wants("thread_tile") && product_.rows >= 32 && product_.columns >= 32;
      if (tile) {
        const std::int64_t side = product_.tiles(128) < writer_.gpu.sms ? 4 : 8;
        kernel_.knob("KW_TM", side, {4, 8});
        kernel_.knob("KW_TN", side, {4, 8});
        kernel_.knob("KW_TK", 16, {16, 32});
        std::tie(rows_, columns_, depth_) = std::tuple("(16 * KW_TM)", "(16 * KW_TN)", "KW_TK");
        kernel_.claim("thread_tile");
      }
      if (!tile) std::tie(rows_, columns_, depth_) = std::tuple("16", "16", "16");
      if (!tile) form_ = {};
      kernel_.threads = "256";
    }
    if (swizzled_) {
      kernel_.claim("swizzle");
    } else if (writer_.wants("avoid_bank_conflicts")) {
      pad_ = half_ ? kernel_.knob("KW_PAD_HALF", 8, {0, 8}) : kernel_.knob("KW_PAD", 4, {0, 4, 8});
      kernel_.claim("avoid_bank_conflicts");
    }
    stages_ = form_.stages ? kernel_.knob("KW_STAGES", 3, {3, 4, 5}) : "1";
    kernel_.grid =
        fmt::format("dim3({}, {}, {})", blocks_for(product_.columns, columns_), blocks_for(product_.rows, rows_), product_.batches);
    kernel_.shared_bytes =
        fmt::format("{} * ({} + {}) * {}", stages_, tile_size(left_, rows_), tile_size(right_, columns_), size_of(dtype_));
    kernel_.constraints.push_back(fmt::format("{} <= {}", kernel_.shared_bytes, writer_.gpu.shared_bytes_per_block));
    kernel_.claim("shared_tile");
    if (std::max(form_.left_lanes, form_.right_lanes) > 1) kernel_.claim("vector_load");
    if (form_.async) kernel_.claim("async_copy");
    if (form_.stages) kernel_.claim("multistage");
    if (writer_.wants("fuse_tile_epilogue") && stage_.roots[0] != product_.value) kernel_.claim("fuse_tile_epilogue");
    writer_.bound_registers(kernel_);
  }

  [[nodiscard]] std::string tile_size(const CuteOperand& of, const std::string& outer) const {
    return of.along_depth() ? fmt::format("{} * ({} + {})", outer, depth_, pad_)
                            : fmt::format("{} * ({} + {})", depth_, outer, pad_);
  }

  // The layout of an operand's tiles in shared memory: (outer, depth, stage), running along what runs along memory.
  [[nodiscard]] std::string layout(const CuteOperand& of, const std::string& outer) const {
    const std::string shape = fmt::format("Shape<Int<{}>, Int<{}>, Int<{}>>", outer, depth_, stages_);
    if (swizzled_) {
      const std::string width = fmt::format("({0} < 64 ? {0} : 64)", of.along_depth() ? depth_ : outer);
      const std::string atom = of.along_depth() ? fmt::format("Layout<Shape<_8, Int<{0}>>, Stride<Int<{0}>, _1>>{{}}", width)
                                                : fmt::format("Layout<Shape<Int<{0}>, _8>, Stride<_1, Int<{0}>>>{{}}", width);
      return fmt::format("tile_to_shape(composition(Swizzle<({} == 64 ? 3 : 2), 3, 3>{{}}, {}), {}{{}})", width, atom, shape);
    }
    const std::string size = tile_size(of, outer);
    const std::string strides =
        of.along_depth() ? fmt::format("Int<{} + {}>, _1", depth_, pad_) : fmt::format("_1, Int<{} + {}>", outer, pad_);
    return fmt::format("Layout<{}, Stride<{}, Int<{}>>>{{}}", shape, strides, size);
  }

  void open_memory() {
    e_.line("extern __shared__ __align__(128) unsigned char kw_room[];");
    e_.line(fmt::format("const int first_row = blockIdx.y * {}, first_column = blockIdx.x * {};", rows_, columns_));
    batch_ = product_.batches == 1 ? Affine(0) : Affine::variable(e_.define("batch", "blockIdx.z", {0, product_.batches - 1}));
    e_.line(
        fmt::format("const auto left_layout = {};\nconst auto right_layout = {};", layout(left_, rows_), layout(right_, columns_)));
    e_.line(fmt::format("{0}* const tiles = reinterpret_cast<{0}*>(kw_room);", element()));
    e_.line("Tensor left_tile = make_tensor(make_smem_ptr(tiles), left_layout);  // (outer, depth, stage)");
    e_.line(fmt::format("Tensor right_tile = make_tensor(make_smem_ptr(tiles + {} * {}), right_layout);", stages_,
                        tile_size(left_, rows_)));
  }

  // Tensor NAME_from of the operand's tiles in memory, and const auto copy_NAME = [&](int step, int stage).
  void copies(const CuteOperand& of, std::int64_t lanes, const std::string& name, const std::string& outer,
              const std::string& first) {
    const std::int64_t extent = of.operand.extent;
    const std::string batch =
        batch_.is_constant() || of.batch_stride == 0 ? "" : fmt::format(" + {} * {}", of.batch_stride, e_.text(batch_));
    e_.line(fmt::format(
        "Tensor {0}_whole = make_tensor(recast_ptr<const {1}>({2} + {3}{4}), make_shape(Int<{5}>{{}}, Int<{6}>{{}}), "
        "make_stride(Int<{7}>{{}}, Int<{8}>{{}}));",
        name, element(), writer_.iterator(of.memory), of.start, batch, extent, product_.depth, of.outer_stride, of.depth_stride));
    const std::string tile = fmt::format("make_shape(Int<{0}>{{}}, Int<{1}>{{}}), make_coord({2} / {0}, _)", outer, depth_, first);
    const std::string bits = fmt::format("{}", lanes * static_cast<std::int64_t>(size_of(dtype_)) * 8);
    const bool async = form_.async && lanes > 1;
    const std::string atom =
        async ? "SM80_CP_ASYNC_CACHEALWAYS_ZFILL<uint128_t>" : fmt::format("UniversalCopy<uint_bit_t<{}>>", bits);
    const std::string along = of.along_depth() ? depth_ : outer;
    const std::string wide = fmt::format("({} / {})", along, lanes);
    const std::string high = fmt::format("({} / {})", kernel_.threads, wide);
    const std::string threads = of.along_depth()
                                    ? fmt::format("Layout<Shape<Int<{0}>, Int<{1}>>, Stride<Int<{1}>, _1>>", high, wide)
                                    : fmt::format("Layout<Shape<Int<{}>, Int<{}>>>", wide, high);
    const std::string values =
        of.along_depth() ? fmt::format("Layout<Shape<_1, Int<{}>>>", lanes) : fmt::format("Layout<Shape<Int<{}>, _1>>", lanes);
    const std::string other = of.along_depth() ? outer : depth_;
    kernel_.constraints.push_back(fmt::format("{} * {} >= {}", wide, other, kernel_.threads));
    e_.line(fmt::format("const auto {}_copy = make_tiled_copy(Copy_Atom<{}, {}>{{}}, {}{{}}, {}{{}});", name, atom, element(),
                        threads, values));
    e_.line(fmt::format("const auto {0}_own = {0}_copy.get_slice(threadIdx.x);", name));
    e_.line(fmt::format("Tensor {0}_from = {0}_own.partition_S(local_tile({0}_whole, {1}));  // (piece, outer, depth, step)", name,
                        tile));
    e_.line(fmt::format("Tensor {0}_to = {0}_own.partition_D({0}_tile);  // (piece, outer, depth, stage)", name));
    e_.line(fmt::format(
        "Tensor {0}_at = {0}_own.partition_S(local_tile(make_identity_tensor(make_shape(Int<{1}>{{}}, Int<{2}>{{}})), {3}));", name,
        extent, product_.depth, tile));
    e_.open(fmt::format("const auto copy_{} = [&](int step, int stage) {{", name));
    e_.open(fmt::format("CUTE_UNROLL\nfor (int o = 0; o < size<1>({}_to); ++o) {{", name));
    e_.open(fmt::format("CUTE_UNROLL\nfor (int d = 0; d < size<2>({}_to); ++d) {{", name));
    e_.line(fmt::format("const auto at = {}_at(0, o, d, step);", name));
    e_.line(fmt::format("const bool inside = ({0} % {1} == 0 || get<0>(at) < {0}) && ({2} % {3} == 0 || get<1>(at) < {2});", extent,
                        outer, product_.depth, depth_));
    if (async) {
      e_.line(fmt::format("cute::copy({0}_copy.with(inside), {0}_from(_, o, d, step), {0}_to(_, o, d, stage));", name));
    } else {
      e_.line(
          fmt::format("if (inside) cute::copy({0}_copy, {0}_from(_, o, d, step), {0}_to(_, o, d, stage));\n"
                      "else cute::clear({0}_to(_, o, d, stage));",
                      name));
    }
    e_.close();
    e_.close();
    e_.close("};");
  }

  void open_sums(const std::string& mma) {
    e_.line(fmt::format("const auto product = make_tiled_mma({});", mma));
    e_.line("const auto own = product.get_slice(threadIdx.x);");
    e_.line(fmt::format("Tensor sums = partition_fragment_C(product, Shape<Int<{}>, Int<{}>>{{}});\ncute::clear(sums);", rows_,
                        columns_));
  }

  void plain_multiply() {
    open_sums("UniversalFMA<float, float, float>{}, Layout<Shape<_16, _16, _1>>{}");
    e_.line("Tensor left_part = own.partition_A(left_tile);\nTensor right_part = own.partition_B(right_tile);");
    e_.line(
        "const auto multiply = [&](int stage) {\n"
        "  cute::gemm(product, left_part(_, _, _, stage), right_part(_, _, _, stage), sums);\n};");
  }

  // Fragments of a step of depth from shared memory, by the instruction that gives four matrices at once.
  void tensor_multiply() {
    open_sums(fmt::format("{}{{}}, Layout<Shape<_2, Int<KW_WARPS>, _1>>{{}}, Tile<_32, Int<16 * KW_WARPS>, _16>{{}}",
                          dtype_ == DType::f16 ? "SM80_16x8x16_F32F16F16F32_TN" : "SM80_16x8x16_F32BF16BF16F32_TN"));
    for (const CuteOperand* of : {&left_, &right_}) {
      const std::string name = of->operand.left ? "left" : "right", letter = of->operand.left ? "A" : "B";
      e_.line(fmt::format("Tensor {0}_part = own.partition_fragment_{1}({0}_tile(_, _, 0));", name, letter));
      e_.line(fmt::format("const auto {0}_load = make_tiled_copy_{1}(Copy_Atom<{2}, {3}>{{}}, product);", name, letter,
                          of->along_depth() ? "SM75_U32x4_LDSM_N" : "SM75_U16x8_LDSM_T", element()));
      e_.line(fmt::format("Tensor {0}_shared = {0}_load.get_slice(threadIdx.x).partition_S({0}_tile);", name));
      e_.line(fmt::format("Tensor {0}_view = {0}_load.get_slice(threadIdx.x).retile_D({0}_part);", name));
    }
    e_.line(
        "const auto multiply = [&](int stage) {\n  CUTE_UNROLL\n  for (int k = 0; k < size<2>(left_part); ++k) {\n"
        "    cute::copy(left_load, left_shared(_, _, k, stage), left_view(_, _, k));\n"
        "    cute::copy(right_load, right_shared(_, _, k, stage), right_view(_, _, k));\n"
        "    cute::gemm(product, left_part(_, _, k), right_part(_, _, k), sums);\n  }\n};");
  }

  void loops() {
    e_.line(fmt::format("constexpr int steps = ({0} + {1} - 1) / {1};", product_.depth, depth_));
    if (!form_.stages) {
      e_.open("for (int step = 0; step < steps; ++step) {");
      e_.line("copy_left(step, 0);\ncopy_right(step, 0);");
      if (form_.async) e_.line("cp_async_fence();\ncp_async_wait<0>();");
      e_.line("__syncthreads();\nmultiply(0);\n__syncthreads();");
      e_.close();
      return;
    }
    e_.open("const auto ask_for = [&](int step) {");
    e_.line(
        "if (step < steps) {\n  copy_left(step, step % KW_STAGES);\n  copy_right(step, step % KW_STAGES);\n}\ncp_async_fence();");
    e_.close("};");
    e_.line("for (int step = 0; step < KW_STAGES - 1; ++step) ask_for(step);");
    e_.open("for (int step = 0; step < steps; ++step) {");
    e_.line("cp_async_wait<KW_STAGES - 2>();\n__syncthreads();\nask_for(step + KW_STAGES - 1);\nmultiply(step % KW_STAGES);");
    e_.close();
  }

  void results() {
    e_.line(fmt::format("Tensor at = own.partition_C(make_identity_tensor(Shape<Int<{}>, Int<{}>>{{}}));", rows_, columns_));
    e_.open("CUTE_UNROLL\nfor (int i = 0; i < size(sums); ++i) {");
    e_.line("const int at_row = first_row + get<0>(at(i)), at_column = first_column + get<1>(at(i));");
    e_.open(fmt::format("if (({0} % {2} == 0 || at_row < {0}) && ({1} % {3} == 0 || at_column < {1})) {{", product_.rows,
                        product_.columns, rows_, columns_));
    const VarId row = e_.define("row", "at_row", {0, product_.rows - 1});
    const VarId column = e_.define("column", "at_column", {0, product_.columns - 1});
    store_product(writer_, kernel_, stage_, product_, {batch_, Affine::variable(row), Affine::variable(column)}, "sums(i)", false);
    e_.close();
    e_.close();
  }

  GpuWriter& writer_;
  const Stage& stage_;
  const GpuProduct& product_;
  const CuteOperand &left_, &right_;
  CuteForm form_;
  DType dtype_;
  bool half_, swizzled_;
  GpuKernel kernel_;
  Emitter& e_;
  Affine batch_;
  std::string pad_ = "0", stages_ = "1";
  std::string rows_, columns_, depth_;  // of a tile: other products of the file may have others, so that no macro of theirs may do
};

bool write_cute_product(GpuWriter& writer, const Stage& stage) {
  if (stage.anchor < 0 || writer.graph.at(stage.anchor).kind != ValueKind::product || !writer.wants("shared_tile")) return false;
  const GpuProduct product = gpu_product(writer, stage);
  if (product.rows < 2 || product.columns < 2 || product.batches > 65535) return false;
  const DType dtype = product.left.memory;
  if (product.right.memory != dtype) return false;
  const bool half = dtype == DType::f16 || dtype == DType::bf16;
  if (half ? !writer.wants("tensor_core") || writer.gpu.compute_capability < 80 : dtype != DType::f32) return false;
  CuteOperand left, right;
  if (!describe_operand(writer, product, product.left, left) || !describe_operand(writer, product, product.right, right))
    return false;
  const auto most = static_cast<std::int64_t>(16 / size_of(dtype));
  const bool vectors = writer.wants("vector_load");
  CuteForm form;
  if (vectors && left.moves(most, product)) form.left_lanes = most;
  if (vectors && right.moves(most, product)) form.right_lanes = most;
  form.async = writer.wants("async_copy") && std::max(form.left_lanes, form.right_lanes) > 1 && writer.gpu.compute_capability >= 80;
  form.stages = form.async && writer.wants("multistage") && product.depth >= 64;
  return CuteProduct(writer, stage, product, left, right, form).write();
}

}  // namespace

const GpuFamily cute_product_family{"product in CuTe", write_cute_product};

}  // namespace kw
