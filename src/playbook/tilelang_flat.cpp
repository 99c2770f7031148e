// One element a thread in TileLang: takes every stage; what an element needs, its thread computes.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/loops.h"
#include "playbook/py_stage.h"

namespace kw {
namespace {

bool write_tilelang_flat(PyWriter& writer, const Stage& stage) {
  const bool scans = stage.anchor >= 0 && writer.graph.at(stage.anchor).kind == ValueKind::scan;
  const auto inner = writer.graph.shape(stage.roots[0]).size() - stage.row_dims.size();
  const bool rows = stage.anchor < 0 && stage.has_reductions && inner > 0;
  std::vector<Stage> parts;
  for (const ValueId root : stage.roots) {
    if (stage.anchor < 0 && !parts.empty()) {
      parts.back().roots.push_back(root);
      continue;
    }
    parts.push_back(stage);
    parts.back().roots = {root};
  }
  for (const Stage& part : parts) {
    PyKernel kernel = writer.kernel(scans ? "running" : rows ? "row_each" : "element");
    PyEmitter& e = kernel.e;
    writer.choose_warps(kernel, 4);
    const Shape& shape = writer.graph.shape(part.roots[0]);
    Shape counted = rows ? shape_of_dims(shape, stage.row_dims) : shape;
    if (scans) {
      counted = writer.graph.shape(stage.anchor);
      counted[static_cast<std::size_t>(writer.graph.at(stage.anchor).dims[0])] = 1;
    }
    const std::int64_t count = numel(counted);
    kernel.grid = {ceil_div(count, kernel.threads)};
    e.line(fmt::format("i = bx * ({}) + T.get_thread_binding()", kernel.threads));
    e.open(fmt::format("if i < {}:", count));
    const Affine at = Affine::variable(e.position("i", {0, count - 1}, 0));
    if (scans) {
      write_running(writer, kernel, part.roots[0], stage.anchor, at);
    } else if (rows) {
      Index index = with_dims(Index(shape.size()), stage.row_dims, e.unflatten(at, counted));
      for (int d = 0; d < static_cast<int>(shape.size()); ++d)
        if (std::ranges::find(stage.row_dims, d) == stage.row_dims.end())
          index[static_cast<std::size_t>(d)] = Affine::variable(e.open_loop("k", shape[static_cast<std::size_t>(d)]));
      store_roots(writer, kernel, part, index);
      for (std::size_t d = 0; d < inner; ++d) e.close();
    } else {
      store_roots(writer, kernel, part, e.unflatten(at, shape));
    }
    e.close();
    if (!writer.finish(kernel)) return false;
    writer.done(part);
  }
  return true;
}

}  // namespace

const PyFamily tilelang_flat_family{"flat", write_tilelang_flat};

}  // namespace kw
