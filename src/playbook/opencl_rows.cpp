// Reductions and what is made of them on a CPU: a work-item for each row with vectors along it, or for as many columns as a vector
// has lanes. Nothing is shared between work-items, so that there are no barriers.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/gpu_rows.h"
#include "playbook/loops.h"

namespace kw {
namespace {

struct ClRowForm {
  bool online = false;
  bool keep = false;
};

constexpr std::int64_t kMostKept = 4096;  // floats of a row that a work-item keeps: they stay in its first cache

// Vectors over [0, count), then what is left over one by one.
void each_piece(Emitter& e, std::int64_t count, const std::function<void(VarId)>& body) {
  const VarId j = e.variable("j", count, true);
  e.open(fmt::format("for ({1} {0} = 0; {0} + kw_lanes <= {2}; {0} += kw_lanes) {{", e.name(j), e.index_type, count), {j});
  body(j);
  e.close();
  if (count % 16 == 0) return;
  const VarId rest = e.variable("j", count);
  e.open(fmt::format("for ({1} {0} = {2} / kw_lanes * kw_lanes; {0} < {2}; ++{0}) {{", e.name(rest), e.index_type, count), {rest});
  body(rest);
  e.close();
}

// Exponentials and the like that a reduction and what follows it both need.
void keep_costly(GpuWriter& writer, GpuKernel& kernel, const Stage& stage, const Index& row, const std::vector<int>& inner_dims) {
  Emitter& e = kernel.e;
  const Shape shape = writer.graph.shape(stage.roots[0]);
  const Shape inner = shape_of_dims(shape, inner_dims);
  for (const ValueId id : values_to_keep_in_registers(writer, stage, shape)) {
    if (!is_costly(writer.graph.at(id))) continue;
    Buffer buffer{e.unique("kept"), DType::f32, shape, false, {}};
    for (const int d : stage.row_dims) buffer.shape[static_cast<std::size_t>(d)] = 1;
    e.line(fmt::format("float {}[{}];", buffer.name, numel(inner)));
    each_piece(e, numel(inner), [&](VarId j) {
      const Expr value = e.emit(id, with_dims(row, inner_dims, e.unflatten(Affine::variable(j), inner)));
      e.line(e.is_vector(j) ? fmt::format("kw_store({} + {}, {});", buffer.name, e.name(j), e.as_vector(value).text)
                            : fmt::format("{}[{}] = {};", buffer.name, e.name(j), value.text));
    });
    e.materialise(id, buffer);
    kernel.claim("keep_row");
  }
}

bool attempt_rows(GpuWriter& writer, const Stage& stage, const ClRowForm& form) {
  const Shape shape = writer.graph.shape(stage.roots[0]);
  const auto inner_dims = inner_dims_of(shape, stage);
  const Shape inner = shape_of_dims(shape, inner_dims), row_shape = shape_of_dims(shape, stage.row_dims);
  const std::int64_t rows = numel(row_shape);
  GpuKernel kernel = writer.kernel("rows");
  Emitter& e = kernel.e;
  const std::string threads = writer.block_threads(kernel, 1, {1, 2, 4, 8});
  const VarId row = e.define("row", fmt::format("blockIdx.x * {} + threadIdx.x", threads), {0, rows - 1});
  e.line(fmt::format("if ({} >= {}) return;", e.name(row), rows));
  kernel.grid = blocks_for(rows, threads);
  const Index index = with_dims(Index(shape.size()), stage.row_dims, e.unflatten(Affine::variable(row), row_shape));
  e.reduce_style.vector = true;
  if (writer.wants("row_accumulators")) {
    e.reduce_style.accumulators = kernel.knob("KW_ACCUMULATORS", 4, {2, 4, 8});
    kernel.claim("row_accumulators");
  }
  if (form.online) {
    e.row_group.loop = [&](std::int64_t count, const std::function<void(VarId)>& body) {
      if (count % 16 != 0) e.set_trouble("a rest of the row");
      each_piece(e, count, body);
    };
    e.row_group.vector = true;
    e.row_group.depth = e.depth();
    e.row_group.join = "{1}";
    if (!write_online_row(writer, kernel, stage, index)) return false;
    e.row_group.loop = nullptr;
  }
  if (form.keep) keep_costly(writer, kernel, stage, index, inner_dims);
  if (inner_dims.empty()) {
    store_roots(writer, kernel, stage, index);
  } else {
    each_piece(e, numel(inner), [&](VarId j) {
      store_roots(writer, kernel, stage, with_dims(index, inner_dims, e.unflatten(Affine::variable(j), inner)));
    });
  }
  kernel.claim("row_vectors");
  return writer.finish(kernel);
}

// Rows that lie across: the last dimension is none that is reduced, and its neighbours are the lanes of a vector.
bool write_columns(GpuWriter& writer, const Stage& stage) {
  const Shape shape = writer.graph.shape(stage.roots[0]);
  const int last = static_cast<int>(shape.size()) - 1;
  if (shape.empty() || std::ranges::find(stage.row_dims, last) == stage.row_dims.end()) return false;
  const std::int64_t columns = shape[static_cast<std::size_t>(last)];
  if (columns < 16) return false;
  std::vector<int> outer_dims = stage.row_dims;
  std::erase(outer_dims, last);
  const Shape outer_shape = shape_of_dims(shape, outer_dims);
  const auto inner_dims = inner_dims_of(shape, stage);
  GpuKernel kernel = writer.kernel("columns");
  Emitter& e = kernel.e;
  e.columns = true;
  const std::string threads = writer.block_threads(kernel, 4, {1, 2, 4, 8, 16});
  const std::string pieces = fmt::format("({} + kw_lanes - 1) / kw_lanes", columns);
  const std::int64_t outer_count = numel(outer_shape);
  kernel.grid = fmt::format("({0} * ({1}) + {2} - 1) / {2}", outer_count, pieces, threads);
  e.line(fmt::format("const int piece = blockIdx.x * {} + threadIdx.x;", threads));
  e.line(fmt::format("if (piece >= {} * ({})) return;", outer_count, pieces));
  const VarId outer = e.define("outer", fmt::format("piece / ({})", pieces), {0, outer_count - 1});
  e.line(fmt::format("const int first = piece % ({}) * kw_lanes;", pieces));
  const auto body = [&](VarId j) {
    Index index = with_dims(Index(shape.size()), outer_dims, e.unflatten(Affine::variable(outer), outer_shape));
    index[static_cast<std::size_t>(last)] = Affine::variable(j);
    for (const int d : inner_dims)
      index[static_cast<std::size_t>(d)] = Affine::variable(e.open_loop("k", shape[static_cast<std::size_t>(d)]));
    store_roots(writer, kernel, stage, index);
    for (std::size_t i = 0; i < inner_dims.size(); ++i) e.close();
  };
  e.open(fmt::format("if (first + kw_lanes <= {}) {{", columns));
  body(e.define("j", "first", {0, columns - 1}, true));
  e.close("} else {");
  const VarId rest = e.variable("j", columns);
  e.open(fmt::format("for ({1} {0} = first; {0} < {2}; ++{0}) {{", e.name(rest), e.index_type, columns), {rest});
  body(rest);
  e.close();
  e.line("}");
  kernel.claim("column_vectors");
  return writer.finish(kernel);
}

bool write_opencl_rows(GpuWriter& writer, const Stage& stage) {
  if (stage.anchor >= 0 || !stage.has_reductions) return false;
  const RowReduction reduction = row_reduction(writer, stage);
  std::size_t last = reduction.shape.empty() ? 0 : reduction.shape.size() - 1;
  while (last > 0 && reduction.shape[last] == 1) --last;
  const bool across = !reduction.dims.empty() && reduction.dims.back() < static_cast<int>(last);
  if (across) return writer.wants("column_vectors") && write_columns(writer, stage);
  if (!writer.wants("row_vectors") || reduction.elements < 16) return false;
  const Shape shape = writer.graph.shape(stage.roots[0]);
  const std::int64_t inner = product_of(shape, inner_dims_of(shape, stage));
  for (const bool online : {true, false})
    for (const bool keep : {true, false}) {
      if (online && (keep || !writer.wants("online_row") || writer.wants("keep_row"))) continue;
      if (keep && (!writer.wants("keep_row") || inner > kMostKept || inner < 2)) continue;
      if (attempt_rows(writer, stage, {online, keep})) return true;
    }
  return false;
}

}  // namespace

const GpuFamily opencl_rows_family{"rows", write_opencl_rows};

}  // namespace kw
