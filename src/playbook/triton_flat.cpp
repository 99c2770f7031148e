// One element a lane in Triton: index arithmetic over a flat range. Takes every stage; what an element needs, its lane computes.
// And blocks in two dimensions for what is read along another dimension than it is written.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/loops.h"
#include "playbook/py_stage.h"

namespace kw {
namespace {

struct TritonFlat {
  bool vector = false, unrolled = false, persistent = false;
};

// How many elements a program does: a text of knobs.
std::string block_of(PyKernel& kernel, const TritonFlat& form) {
  std::string block = kernel.warps == "KW_WARPS" ? "32 * KW_WARPS" : fmt::format("{}", 32 * std::stoi(kernel.warps));
  if (form.vector) {
    kernel.claim("vector_load");
    block += " * 4";
  }
  if (form.unrolled) {
    kernel.claim("unroll_items");
    block += " * " + kernel.knob("KW_ITEMS", 4, {2, 4, 8});
  }
  return block;
}

VarId lanes(PyKernel& kernel, const std::string& block, std::int64_t count, const std::string& program) {
  PyEmitter& e = kernel.e;
  e.block_shape = fmt::format("[{}]", block);
  const std::string name = e.unique("i");
  e.line(fmt::format("{} = {} * ({}) + tl.arange(0, {})", name, program, block, block));
  return e.position(name, {0, count - 1}, kAlongColumns, fmt::format("({} < {})", name, count));
}

bool write_triton_flat(PyWriter& writer, const Stage& stage) {
  TritonFlat form;
  if (stage.anchor < 0 && !stage.has_reductions) {
    const Shape& shape = writer.graph.shape(stage.roots[0]);
    const std::int64_t resident = static_cast<std::int64_t>(writer.gpu.sms) * writer.gpu.max_threads_per_sm;
    const bool whole_vectors = numel(shape) % 4 == 0 && (shape.empty() || shape.back() % 4 == 0);
    const bool floats = std::ranges::all_of(stage.roots, [&](ValueId root) { return writer.graph.dtype(root) == DType::f32; });
    form.vector = writer.wants("vector_load") && whole_vectors && floats && numel(shape) >= 128;
    const bool many = numel(shape) >= 2 * resident;
    form.unrolled = writer.wants("unroll_items") && many;
    form.persistent = writer.wants("persistent") && many;
  }
  return write_flat(writer, stage, [&](PyKernel& kernel, std::int64_t count) -> FlatPlace {
    const std::string block = block_of(kernel, form);
    kernel.grid = {ceil_div(count, block)};
    if (!form.persistent) return {Affine::variable(lanes(kernel, block, count, "tl.program_id(0)"))};
    kernel.claim("persistent");
    kernel.grid = {fmt::format("{} * {}", writer.gpu.sms, kernel.knob("KW_WAVES", 4, {1, 2, 4, 8}))};
    const std::string piece = kernel.e.unique("piece");
    kernel.e.open(fmt::format("for {} in range(tl.program_id(0), {}, tl.num_programs(0)):", piece, ceil_div(count, block)));
    return {Affine::variable(lanes(kernel, block, count, piece)), 1};
  });
}

// The dimension that some operand lies along in memory, where that is not the last; -1: none.
int turned_along(const PyWriter& writer, const Stage& stage) {
  PyKernel probe = writer.kernel("probe");
  const Shape& shape = writer.graph.shape(stage.roots[0]);
  Index index;
  std::vector<VarId> along;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    along.push_back(probe.e.position(probe.e.unique("d"), {0, shape[d] - 1}, kAlongColumns));
    index.push_back(Affine::variable(along.back()));
  }
  for (const ValueId root : stage.roots) probe.e.emit(root, index);
  if (!probe.e.trouble().empty()) return -1;
  for (const Affine& load : probe.e.loads()) {
    if (load.coefficient(along.back()) == 1 || load.coefficient(along.back()) == 0) continue;
    for (std::size_t d = 0; d + 1 < shape.size(); ++d)
      if (load.coefficient(along[d]) == 1 && shape[d] >= 16 && shape.back() >= 16) return static_cast<int>(d);
  }
  return -1;
}

bool write_transpose(PyWriter& writer, const Stage& stage) {
  if (stage.anchor >= 0 || stage.has_reductions || !writer.wants("transpose_tile")) return false;
  const Shape& shape = writer.graph.shape(stage.roots[0]);
  if (shape.size() < 2) return false;
  const int down = turned_along(writer, stage);
  if (down < 0) return false;
  PyKernel kernel = writer.kernel("turn");
  PyEmitter& e = kernel.e;
  writer.choose_warps(kernel, 4);
  kernel.knob("KW_TILE", 32, {32, 64});
  e.block_shape = "[KW_TILE, KW_TILE]";
  const auto last = shape.size() - 1;
  std::vector<int> outer;
  for (int d = 0; d < static_cast<int>(last); ++d)
    if (d != down) outer.push_back(d);
  const Shape outer_shape = shape_of_dims(shape, outer);
  const std::int64_t wide = shape[last], high = shape[static_cast<std::size_t>(down)];
  const std::string across = ceil_div(wide, "KW_TILE"), tall = ceil_div(high, "KW_TILE");
  kernel.grid = {fmt::format("{} * ({}) * ({})", numel(outer_shape), across, tall)};
  e.line(fmt::format("tiles_across = {}", across));
  e.line(fmt::format("tiles_down = {}", tall));
  e.line("down = (tl.program_id(0) // tiles_across % tiles_down * KW_TILE + tl.arange(0, KW_TILE))[:, None]");
  e.line("across = (tl.program_id(0) % tiles_across * KW_TILE + tl.arange(0, KW_TILE))[None, :]");
  Index index(shape.size());
  if (!outer.empty()) {
    const VarId other = e.define("outer", "tl.program_id(0) // (tiles_across * tiles_down)", {0, numel(outer_shape) - 1}, 0);
    index = with_dims(index, outer, e.unflatten(Affine::variable(other), outer_shape));
  }
  index[static_cast<std::size_t>(down)] =
      Affine::variable(e.position("down", {0, high - 1}, kAlongRows, fmt::format("(down < {})", high)));
  index[last] = Affine::variable(e.position("across", {0, wide - 1}, kAlongColumns, fmt::format("(across < {})", wide)));
  store_roots(writer, kernel, stage, index);
  kernel.claim("transpose_tile");
  return writer.finish(kernel);
}

}  // namespace

const PyFamily triton_flat_family{"flat", write_triton_flat};
const PyFamily triton_transpose_family{"transpose", write_transpose};

}  // namespace kw
