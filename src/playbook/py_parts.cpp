// Parts of stages that are the same in Triton and TileLang.
#include <algorithm>

#include "playbook/halves.h"
#include "playbook/loops.h"
#include "playbook/py_stage.h"

namespace kw {
namespace {

// Roots with an anchor are kernels of their own; the others share one.
std::vector<Stage> parts_of(const Stage& stage) {
  std::vector<Stage> parts;
  for (const ValueId root : stage.roots) {
    if (stage.anchor < 0 && !parts.empty()) {
      parts.back().roots.push_back(root);
      continue;
    }
    parts.push_back(stage);
    parts.back().roots = {root};
  }
  return parts;
}

}  // namespace

bool write_flat(PyWriter& writer, const Stage& stage, const std::function<FlatPlace(PyKernel&, std::int64_t)>& begin) {
  const bool scans = stage.anchor >= 0 && writer.graph.at(stage.anchor).kind == ValueKind::scan;
  const auto inner = writer.graph.shape(stage.roots[0]).size() - stage.row_dims.size();
  const bool rows = stage.anchor < 0 && stage.has_reductions && inner > 0;
  const bool pointwise = stage.anchor < 0 && !stage.has_reductions;
  for (const Stage& part : parts_of(stage)) {
    PyKernel kernel = writer.kernel(scans ? "running" : rows ? "row_each" : pointwise ? "pointwise" : "element");
    PyEmitter& e = kernel.e;
    writer.choose_warps(kernel, 4);
    const Shape& shape = writer.graph.shape(part.roots[0]);
    Shape counted = rows ? shape_of_dims(shape, stage.row_dims) : shape;
    if (scans) {
      counted = writer.graph.shape(stage.anchor);
      counted[static_cast<std::size_t>(writer.graph.at(stage.anchor).dims[0])] = 1;
    }
    const FlatPlace place = begin(kernel, numel(counted));
    if (scans) {
      write_running(writer, kernel, part.roots[0], stage.anchor, place.at);
    } else if (rows) {
      Index index = with_dims(Index(shape.size()), stage.row_dims, e.unflatten(place.at, counted));
      for (int d = 0; d < static_cast<int>(shape.size()); ++d)
        if (std::ranges::find(stage.row_dims, d) == stage.row_dims.end())
          index[static_cast<std::size_t>(d)] = Affine::variable(e.open_loop("k", shape[static_cast<std::size_t>(d)]));
      store_roots(writer, kernel, part, index);
      for (std::size_t d = 0; d < inner; ++d) e.close();
    } else {
      store_roots(writer, kernel, part, e.unflatten(place.at, shape));
    }
    for (int block = 0; block < place.opened; ++block) e.close();
    if (!writer.finish(kernel)) return false;
    writer.done(part);
  }
  return true;
}

PyProduct::PyProduct(PyWriter& writer, const Stage& stage)
    : writer_(writer),
      stage_(stage),
      value_(writer.graph.at(stage.anchor)),
      kernel_(writer.kernel("product")),
      e_(kernel_.e),
      batches_(value_.shape[0]),
      rows_(value_.shape[1]),
      columns_(value_.shape[2]),
      depth_(writer.graph.shape(value_.operands[0])[2]) {}

bool PyProduct::writes(const PyWriter& writer, const Stage& stage) {
  if (stage.anchor < 0 || writer.graph.at(stage.anchor).kind != ValueKind::product) return false;
  const DType dtype = writer.graph.dtype(stage.anchor);
  return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}

bool PyProduct::in_memory(std::size_t operand) const {
  PyKernel probe = writer_.kernel("probe");
  Index index;
  for (const char* name : {"b", "r", "k"}) index.push_back(Affine::variable(probe.e.position(name, {0, 1 << 20}, kAlongRows)));
  return probe.e.place_of(behind_widening(writer_.graph, value_.operands[operand]), index).found;
}

void PyProduct::finish_at(PyKernel& kernel, const Index& index, PyExpr sum) {
  PyEmitter& e = kernel.e;
  if (value_.dtype != DType::f32) sum = e.converted(sum, value_.dtype);
  e.provide(stage_.anchor, index, sum);
  e.provide(stage_.anchor, without_single_positions(index, value_.shape), sum);
  const Shape& from = writer_.graph.shape(stage_.anchor);
  for (const ValueId root : stage_.roots) {
    const Shape& to = writer_.graph.shape(root);
    const Index at = from == to ? index : e.unflatten(PyEmitter::flatten(index, from), to);
    const PyExpr value = e.emit(root, at);
    // By the product's own positions, of which each block has all, also where the root has no such dimension.
    Buffer buffer = writer_.buffer(root);
    buffer.shape = from;
    e.store(buffer, index, value);
  }
}

}  // namespace kw
