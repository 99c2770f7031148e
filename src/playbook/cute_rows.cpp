// Reductions and what is made of them in CuTe: a warp or a block for each row, which threads hold in fragments of registers.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/cute_fragments.h"
#include "playbook/gpu_rows.h"
#include "playbook/loops.h"
#include "playbook/reach.h"

namespace kw {
namespace {

// A stage as rows of `count` elements, the innermost dimensions of `shape`.
struct CuteRows {
  Shape shape;
  std::vector<int> dims;
  std::int64_t rows = 1, count = 1;
  bool writes_rows = true;  // the roots have a row's elements; otherwise one result a row
};

bool are_last(const std::vector<int>& dims, const Shape& shape) {
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != static_cast<int>(shape.size() - dims.size() + i)) return false;
  return !dims.empty();
}

struct RowPart {
  ValueId value = -1;
  std::string memory;  // empty: it is computed
  DType dtype = DType::f32;
};

class CuteRowWriter {
 public:
  CuteRowWriter(GpuWriter& writer, const Stage& stage, const CuteRows& rows, bool warp)
      : writer_(writer), stage_(stage), rows_(rows), warp_(warp), kernel_(writer.kernel("row_fragments")), e_(kernel_.e) {}

  bool write() {
    find_parts();
    who();
    for (const RowPart& part : parts_) part.memory.empty() ? compute(part) : load(part);
    rows_.writes_rows ? write_rows() : write_results();
    kernel_.claim("coalesce_rows");
    kernel_.claim("keep_row_registers");
    if (stretch_.lanes > 1) kernel_.claim("vector_load");
    writer_.bound_registers(kernel_);
    return writer_.finish(kernel_);
  }

  // Whether the row fits the registers of the threads that share it.
  [[nodiscard]] bool fits() {
    find_parts();
    const std::int64_t threads = warp_ ? 32 : 1024;
    return !parts_.empty() && rows_.count <= kMostItems * threads * lanes();
  }

 private:
  [[nodiscard]] std::int64_t lanes() const {
    std::vector<DType> types;
    for (const RowPart& part : parts_) types.push_back(part.dtype);
    if (rows_.writes_rows)
      for (const ValueId root : stage_.roots) types.push_back(writer_.buffer(root).dtype);
    return lanes_for(writer_, types, rows_.count);
  }

  // What is read at a row's own positions, side by side in memory, and what is costly and needed twice.
  void find_parts() {
    if (!parts_.empty()) return;
    GpuKernel probe = writer_.kernel("probe");
    const VarId row = probe.e.variable("r", rows_.rows), j = probe.e.variable("j", rows_.count);
    probe.e.open("{", {row, j});
    const Index index = probe.e.unflatten(Affine::variable(row) * rows_.count + Affine::variable(j), rows_.shape);
    const auto stored = [&](ValueId id) { return writer_.plan.buffers.contains(id); };
    const auto own = [&](ValueId id) { return std::ranges::find(stage_.roots, id) != stage_.roots.end(); };
    std::map<ValueId, std::set<ValueId>> passes;
    for (const ValueId root : stage_.roots)
      visit_reached(writer_.graph, root, stored, [&](const Reached& at) {
        if (!own(at.value) && writer_.graph.shape(at.value) == rows_.shape) passes[at.value].insert(at.within);
      });
    for (const auto& [id, readers] : passes) {
      const Value& value = writer_.graph.at(id);
      const bool loaded = value.kind == ValueKind::argument || stored(id);
      if (loaded) {
        const auto place = probe.e.place_of(id, index);
        const bool whole = place.found && place.position == Affine::variable(row) * rows_.count + Affine::variable(j);
        if (whole && is_floating(place.dtype) && place.dtype != DType::f64) parts_.push_back({id, place.pointer, place.dtype});
      } else if (is_costly(value) && readers.size() > 1 && value.dtype == DType::f32) {
        parts_.push_back({id, "", DType::f32});
      }
    }
  }

  void who() {
    stretch_.count = rows_.count;
    stretch_.lanes = lanes();
    std::string row_text = "blockIdx.x";
    if (warp_) {
      const std::string threads = writer_.block_threads(kernel_, 128, {32, 64, 128, 256});
      stretch_.thread = e_.unique("lane");
      stretch_.threads = "32";
      e_.line(fmt::format("const int {} = threadIdx.x % 32;", stretch_.thread));
      row_text = fmt::format("blockIdx.x * ({} / 32) + threadIdx.x / 32", threads);
      kernel_.grid = blocks_for(rows_.rows, threads + " / 32");
      kernel_.claim("warp_per_row");
    } else {
      std::int64_t threads = 128;
      while (threads < 1024 && rows_.count > threads * stretch_.lanes * 4) threads *= 2;
      while (threads > 32 && rows_.count <= threads / 2 * stretch_.lanes) threads /= 2;
      std::vector<std::int64_t> choices;
      for (const std::int64_t choice : {32, 64, 128, 256, 512, 1024})
        if (choice * stretch_.lanes * kMostItems >= rows_.count) choices.push_back(choice);
      stretch_.threads = writer_.block_threads(kernel_, threads, choices);
      stretch_.thread = "int(threadIdx.x)";
      kernel_.grid = fmt::format("{}", rows_.rows);
    }
    const VarId row = e_.define("row", row_text, {0, rows_.rows - 1});
    if (warp_) e_.line(fmt::format("if ({} >= {}) return;", e_.name(row), rows_.rows));
    stretch_.tile = fmt::format("{} * {}", stretch_.threads, stretch_.lanes);
    stretch_.at = e_.unique("at");
    stretch_.whole = fmt::format("make_tensor({{0}}, make_shape(Int<{}>{{{{}}}}, Int<{}>{{{{}}}}), LayoutRight{{{{}}}})({}, _)",
                                 rows_.rows, rows_.count, e_.name(row));
    write_positions(e_, stretch_, fmt::format("make_identity_tensor(make_shape(Int<{}>{{}}))", rows_.count));
    Shape outer(rows_.shape.begin(), rows_.shape.end() - static_cast<std::ptrdiff_t>(rows_.dims.size()));
    row_ = e_.unflatten(Affine::variable(row), outer);
    e_.row_group.loop = [this](std::int64_t, const std::function<void(VarId)>& body) { row_pass(body); };
    e_.row_group.depth = e_.depth();
    const bool shuffles = warp_ || writer_.wants("warp_reduce");
    e_.row_group.join = warp_ ? "kw_warp_join({1}, kw_join_{0}())" : "kw_block_join<" + stretch_.threads + ">({1}, kw_join_{0}())";
    if (!warp_) kernel_.pieces.insert(shuffles ? "block_shuffle_join" : "block_tree_join");
    if (shuffles) kernel_.claim("warp_reduce");
  }

  void row_pass(const std::function<void(VarId)>& body) {
    const std::string item = e_.unique("item");
    e_.open(fmt::format("CUTE_UNROLL\nfor (int {0} = 0; {0} < size({1}); ++{0}) {{", item, stretch_.at));
    const VarId j = e_.define("j", fmt::format("get<0>({}({}))", stretch_.at, item), {0, rows_.count - 1});
    e_.line(fmt::format("if ({0} % ({1}) != 0 && {2} >= {0}) continue;", rows_.count, stretch_.tile, e_.name(j)));
    const std::string before = std::exchange(e_.row_group.item, item);
    const VarId position = std::exchange(e_.row_group.position, j);
    body(j);
    e_.row_group.item = before;
    e_.row_group.position = position;
    e_.close();
  }

  [[nodiscard]] Index at(VarId j) {
    Index index = row_;
    for (const auto& part : e_.unflatten(Affine::variable(j), shape_of_dims(rows_.shape, rows_.dims))) index.push_back(part);
    return index;
  }

  void keep(ValueId id, const std::string& name) {
    Buffer buffer{name, DType::f32, rows_.shape, false, {}};
    Index index = row_;
    for (std::size_t d = 0; d < row_.size(); ++d) buffer.shape[d] = 1;
    index.resize(rows_.shape.size());
    buffer.row = index;
    e_.keep(id, buffer);
  }

  void load(const RowPart& part) {
    const std::string name = e_.unique("kept");
    if (part.dtype == DType::f32) {
      write_fragment_in(writer_, e_, stretch_, name, part.memory, part.dtype);
    } else {
      const std::string raw = e_.unique("raw");
      write_fragment_in(writer_, e_, stretch_, raw, part.memory, part.dtype);
      e_.line(fmt::format(
          "Tensor {0} = make_tensor<float>(shape({1}));\nCUTE_UNROLL\nfor (int i = 0; i < size({0}); ++i) {0}[i] = {2};", name, raw,
          fragment_element(raw, "i", part.dtype).text));
    }
    keep(part.value, name);
  }

  void compute(const RowPart& part) {
    const std::string name = e_.unique("kept");
    e_.line(fmt::format("Tensor {} = make_tensor<float>(shape({}));", name, stretch_.at));
    row_pass([&](VarId j) {
      const Expr value = e_.emit(part.value, at(j));
      e_.line(fmt::format("{}[{}] = {};", name, e_.row_group.item, value.text));
    });
    keep(part.value, name);
  }

  void write_rows() {
    std::vector<std::string> results;
    for (const ValueId root : stage_.roots) {
      results.push_back(e_.unique("result"));
      declare_fragment_out(writer_, e_, stretch_, results.back(), writer_.buffer(root).name, writer_.buffer(root).dtype);
    }
    row_pass([&](VarId j) {
      const Index index = at(j);
      for (std::size_t r = 0; r < stage_.roots.size(); ++r) {
        const Expr value = e_.emit(stage_.roots[r], index);
        e_.line(
            fmt::format("{}({}) = {};", results[r], e_.row_group.item, as_element(value, writer_.buffer(stage_.roots[r]).dtype)));
        e_.provide(stage_.roots[r], index, value);
      }
    });
    for (const auto& result : results) write_fragment_out(e_, stretch_, result);
  }

  void write_results() {
    for (const ValueId root : stage_.roots) {
      const Expr value = e_.emit(root, row_);
      e_.open(fmt::format("if ({} == 0) {{", stretch_.thread));
      e_.store(writer_.buffer(root), row_, value);
      e_.close();
    }
  }

  GpuWriter& writer_;
  const Stage& stage_;
  const CuteRows& rows_;
  bool warp_;
  GpuKernel kernel_;
  Emitter& e_;
  CuteStretch stretch_;
  std::vector<RowPart> parts_;
  Index row_;
};

bool write_cute_rows(GpuWriter& writer, const Stage& stage) {
  if (stage.anchor >= 0 || !stage.has_reductions || !writer.wants("coalesce_rows") || !writer.wants("keep_row_registers"))
    return false;
  const RowReduction reduction = row_reduction(writer, stage);
  if (reduction.elements < 32) return false;
  CuteRows rows;
  const Shape& root = writer.graph.shape(stage.roots[0]);
  for (const ValueId each : stage.roots)
    if (writer.graph.shape(each) != root) return false;
  const auto inner = inner_dims_of(root, stage);
  rows.writes_rows = !inner.empty();
  rows.shape = rows.writes_rows ? root : reduction.shape;
  rows.dims = rows.writes_rows ? inner : reduction.dims;
  if (!are_last(rows.dims, rows.shape)) return false;
  if (!rows.writes_rows && writer.graph.shape(reduction.value) != root) return false;
  rows.count = product_of(rows.shape, rows.dims);
  rows.rows = numel(rows.shape) / rows.count;
  if (rows.count != reduction.elements) return false;
  for (const bool warp : {true, false}) {
    if (warp && (!writer.wants("warp_per_row") || rows.rows < 2)) continue;
    CuteRowWriter attempt(writer, stage, rows, warp);
    if (attempt.fits() && attempt.write()) return true;
  }
  return false;
}

}  // namespace

const GpuFamily cute_rows_family{"rows in CuTe", write_cute_rows};

}  // namespace kw
