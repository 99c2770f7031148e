// One thread for each element, or for each row where a stage has reductions of its rows: the last resort, which takes every stage.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/gpu_stage.h"
#include "playbook/loops.h"

namespace kw {
namespace {

// "const int i = blockIdx.x * 256 + threadIdx.x;" and the return of threads beyond the last.
Affine thread_of(GpuKernel& kernel, std::int64_t count) {
  const VarId at =
      kernel.e.define("i", fmt::format("{}(blockIdx.x) * {} + threadIdx.x", kernel.e.index_type, kernel.threads), {0, count - 1});
  kernel.e.line(fmt::format("if ({} >= {}) return;", kernel.e.name(at), count));
  kernel.grid = blocks_for(count, kernel.threads);
  return Affine::variable(at);
}

void write_running(GpuWriter& writer, GpuKernel& kernel, ValueId root, ValueId anchor) {
  Emitter& e = kernel.e;
  const Value& scan = writer.graph.at(anchor);
  const auto dim = static_cast<std::size_t>(scan.dims[0]);
  std::vector<int> free;
  for (int d = 0; d < static_cast<int>(scan.shape.size()); ++d)
    if (d != scan.dims[0]) free.push_back(d);
  const Shape rows = shape_of_dims(scan.shape, free);
  Index index = with_dims(Index(scan.shape.size()), free, e.unflatten(thread_of(kernel, numel(rows)), rows));
  const bool wide = (scan.fn == "sum" || scan.fn == "prod") && is_floating(scan.dtype);
  const DType acc_type = wide ? DType::f64 : scan.dtype;
  const std::string acc = e.unique("running");
  e.line(fmt::format("{} {} = {};", value_type(acc_type), acc, Emitter::identity(scan.fn, acc_type)));
  index[dim] = Affine::variable(e.open_loop("k", scan.shape[dim]));
  const Expr next = e.converted(e.emit(scan.operands[0], index), acc_type);
  e.line(fmt::format("{} = {};", acc, e.combine(scan.fn, {acc, acc_type, false}, next).text));
  e.provide(anchor, index, e.converted({acc, acc_type, false}, scan.dtype));
  e.store(writer.buffer(root), index, e.emit(root, index));
  e.close();
}

// A row for each thread: its reductions, then its elements.
void write_row_each(GpuWriter& writer, GpuKernel& kernel, const Stage& stage) {
  Emitter& e = kernel.e;
  const Shape shape = writer.graph.shape(stage.roots[0]);
  const Shape rows = shape_of_dims(shape, stage.row_dims);
  Index index = with_dims(Index(shape.size()), stage.row_dims, e.unflatten(thread_of(kernel, numel(rows)), rows));
  int loops = 0;
  for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
    if (std::ranges::find(stage.row_dims, d) != stage.row_dims.end()) continue;
    index[static_cast<std::size_t>(d)] = Affine::variable(e.open_loop("k", shape[static_cast<std::size_t>(d)]));
    ++loops;
  }
  store_roots(writer, kernel, stage, index);
  for (int i = 0; i < loops; ++i) e.close();
}

bool write_naive(GpuWriter& writer, const Stage& stage) {
  const bool scans = stage.anchor >= 0 && writer.graph.at(stage.anchor).kind == ValueKind::scan;
  const auto inner = writer.graph.shape(stage.roots[0]).size() - stage.row_dims.size();
  if (stage.anchor < 0 && stage.has_reductions && inner > 0) {
    GpuKernel kernel = writer.kernel("row_each");
    writer.block_threads(kernel, 128, {32, 64, 128, 256});
    write_row_each(writer, kernel, stage);
    return writer.finish(kernel);
  }
  for (const ValueId root : stage.roots) {
    GpuKernel kernel = writer.kernel(scans ? "running" : "element");
    writer.block_threads(kernel, 256, {64, 128, 256, 512});
    if (scans) {
      write_running(writer, kernel, root, stage.anchor);
    } else {
      const Shape& shape = writer.graph.shape(root);
      const Index index = kernel.e.unflatten(thread_of(kernel, numel(shape)), shape);
      kernel.e.store(writer.buffer(root), index, kernel.e.emit(root, index));
    }
    if (!writer.finish(kernel)) return false;
    Stage own = stage;
    own.roots = {root};
    writer.done(own);
  }
  return true;
}

}  // namespace

const GpuFamily gpu_naive_family{"naive", write_naive};

}  // namespace kw
