// Reductions and what is made of them, a warp or a block for each row: neighbouring threads on neighbouring elements.
#include "playbook/gpu_rows.h"

#include <algorithm>

#include <fmt/format.h>

#include "playbook/loops.h"
#include "playbook/reach.h"
#include "playbook/row_online.h"

namespace kw {
namespace {

struct RowForm {
  bool vector = false;
  bool keep = false;
  bool warp = false;
  bool online = false;
};

// Reads and computes the kept values, each in a pass of its own that the next ones read from registers.
void keep_rows(GpuWriter& writer, GpuKernel& kernel, const Stage& stage, const Index& row, const RowReduction& reduction,
               const std::vector<int>& inner_dims) {
  Emitter& e = kernel.e;
  const bool has_inner = !inner_dims.empty();
  if (!has_inner && writer.graph.shape(reduction.value) != writer.graph.shape(stage.roots[0])) return;
  const Shape shape = has_inner ? writer.graph.shape(stage.roots[0]) : reduction.shape;
  const std::vector<int> dims = has_inner ? inner_dims : reduction.dims;
  const Shape inner = shape_of_dims(shape, dims);
  const std::int64_t count = numel(inner);
  for (const ValueId id : values_to_keep_in_registers(writer, stage, shape)) {
    Buffer buffer{e.unique("kept"), DType::f32, shape, false, {}};
    Index at(shape.size());
    std::size_t next = 0;
    for (int d = 0; d < static_cast<int>(shape.size()); ++d)
      if (std::ranges::find(dims, d) == dims.end()) {
        buffer.shape[static_cast<std::size_t>(d)] = 1;
        at[static_cast<std::size_t>(d)] = has_inner ? row[static_cast<std::size_t>(d)] : row[next];
        ++next;
      }
    buffer.row = at;
    // What its reductions need is written before the array, not into it.
    e.line(fmt::format("{} {}[items];", e.row_group.vector ? "kw_vec" : "float", buffer.name));
    e.row_group.loop(count, [&](VarId j) {
      const Expr value = e.emit(id, with_dims(at, dims, e.unflatten(Affine::variable(j), inner)));
      e.line(fmt::format("{}[{}] = {};", buffer.name, e.row_group.item, e.row_group.vector ? e.as_vector(value).text : value.text));
    });
    e.keep(id, buffer);
    kernel.claim("keep_row_registers");
  }
}

bool attempt(GpuWriter& writer, const Stage& stage, const RowForm& form, const RowReduction& reduction) {
  const Shape shape = writer.graph.shape(stage.roots[0]);
  const auto inner_dims = inner_dims_of(shape, stage);
  const Shape row_shape = shape_of_dims(shape, stage.row_dims);
  const std::int64_t rows = numel(row_shape);
  GpuKernel kernel = writer.kernel(form.warp ? "rows_by_warps" : "rows_by_blocks");
  Emitter& e = kernel.e;
  const std::int64_t lanes = form.vector ? 4 : 1;
  RowThreads who{"threadIdx.x", "", form.vector, form.keep, "", ""};
  std::string row_text = "blockIdx.x";
  if (form.warp) {
    const std::string threads = writer.block_threads(kernel, 128, {32, 64, 128, 256});
    who.first = e.unique("lane");
    who.threads = "32";
    e.line(fmt::format("const int {} = threadIdx.x % 32;", who.first));
    row_text = fmt::format("blockIdx.x * ({} / 32) + threadIdx.x / 32", threads);
    kernel.grid = blocks_for(rows, threads + " / 32");
    kernel.claim("warp_per_row");
  } else {
    // About four pieces a thread, and no more threads than there are pieces.
    std::int64_t threads = 128;
    while (threads < 512 && reduction.elements / (threads * lanes) > 4) threads *= 2;
    while (threads > 32 && reduction.elements <= threads / 2 * lanes) threads /= 2;
    while (form.keep && threads < 1024 && reduction.elements > kMostItems * threads * lanes) threads *= 2;
    std::vector<std::int64_t> choices;
    for (const std::int64_t choice : {32, 64, 128, 256, 512, 1024})
      if (!form.keep || choice * lanes * kMostItems >= reduction.elements) choices.push_back(choice);
    who.threads = writer.block_threads(kernel, threads, choices);
    kernel.grid = fmt::format("{}", rows);
  }
  const VarId row = e.define("row", row_text, {0, rows - 1});
  if (form.warp) e.line(fmt::format("if ({} >= {}) return;", e.name(row), rows));
  const Index index = with_dims(Index(shape.size()), stage.row_dims, e.unflatten(Affine::variable(row), row_shape));
  if (form.keep)
    e.line(fmt::format("constexpr int items = {};",
                       blocks_for(reduction.elements, form.vector ? who.threads + " * kw_lanes" : who.threads)));
  e.row_group.loop = row_loop(kernel, who);
  e.row_group.vector = form.vector;
  e.row_group.depth = e.depth();
  const bool shuffles = form.warp || writer.wants("warp_reduce");
  e.row_group.join = form.warp ? "kw_warp_join({1}, kw_join_{0}())" : "kw_block_join<" + who.threads + ">({1}, kw_join_{0}())";
  if (!form.warp) kernel.pieces.insert(shuffles ? "block_shuffle_join" : "block_tree_join");
  if (shuffles) kernel.claim("warp_reduce");
  if (form.online && !write_online_row(writer, kernel, stage, index)) return false;
  if (form.keep) keep_rows(writer, kernel, stage, index, reduction, inner_dims);
  if (inner_dims.empty()) {
    for (const ValueId root : stage.roots) {
      const Expr value = e.emit(root, index);
      e.open(fmt::format("if ({} == 0) {{", who.first));
      e.store(writer.buffer(root), index, value);
      e.close();
    }
  } else {
    const Shape inner = shape_of_dims(shape, inner_dims);
    e.row_group.loop(numel(inner), [&](VarId j) {
      store_roots(writer, kernel, stage, with_dims(index, inner_dims, e.unflatten(Affine::variable(j), inner)));
    });
  }
  if (form.vector) kernel.claim("vector_load");
  kernel.claim("coalesce_rows");
  writer.bound_registers(kernel);
  return writer.finish(kernel);
}

bool write_rows(GpuWriter& writer, const Stage& stage) {
  if (stage.anchor >= 0 || !stage.has_reductions || !writer.wants("coalesce_rows")) return false;
  const RowReduction reduction = row_reduction(writer, stage);
  if (reduction.elements < 32) return false;
  // Where the innermost dimension is not reduced, neighbouring threads are on neighbouring columns already.
  std::size_t last = reduction.shape.size() - 1;
  while (last > 0 && reduction.shape[last] == 1) --last;
  if (reduction.dims.back() < static_cast<int>(last)) return false;
  const std::int64_t rows = product_of(writer.graph.shape(stage.roots[0]), stage.row_dims);
  constexpr std::int64_t kMostForWarp = 4096;
  for (const bool online : {true, false})
    for (const bool warp : {true, false})
      for (const bool keep : {true, false})
        for (const bool vector : {true, false}) {
          if (online && (!writer.wants("online_row") || writer.wants("keep_row_registers"))) continue;
          if (warp && (!writer.wants("warp_per_row") || reduction.elements > kMostForWarp || rows < 2)) continue;
          if (keep && (!writer.wants("keep_row_registers") || online)) continue;
          if (vector && (!writer.wants_vectors() || reduction.elements < 128)) continue;
          const std::int64_t threads = warp ? 32 : 1024;
          if (keep && reduction.elements > kMostItems * threads * (vector ? 4 : 1)) continue;
          if (attempt(writer, stage, {vector, keep, warp, online}, reduction)) return true;
        }
  return false;
}

}  // namespace

std::vector<int> inner_dims_of(const Shape& shape, const Stage& stage) {
  std::vector<int> dims;
  for (int d = 0; d < static_cast<int>(shape.size()); ++d)
    if (std::ranges::find(stage.row_dims, d) == stage.row_dims.end()) dims.push_back(d);
  return dims;
}

RowReduction row_reduction(const GpuWriter& writer, const Stage& stage) {
  RowReduction longest;
  const auto stored = [&](ValueId id) { return writer.plan.buffers.contains(id); };
  for (const ValueId root : stage.roots)
    visit_reached(writer.graph, root, stored, [&](const Reached& at) {
      const Value& value = writer.graph.at(at.value);
      if (value.kind != ValueKind::reduce || at.within >= 0 || (at.value != root && stored(at.value))) return;
      const Shape& shape = writer.graph.shape(value.operands[0]);
      const std::int64_t elements = product_of(shape, value.dims);
      if (elements > longest.elements) longest = {at.value, elements, shape, value.dims};
    });
  return longest;
}

std::function<void(std::int64_t, const std::function<void(VarId)>&)> row_loop(GpuKernel& kernel, const RowThreads& who) {
  return [&kernel, who](std::int64_t count, const std::function<void(VarId)>& body) {
    Emitter& e = kernel.e;
    const std::string type(e.index_type);
    const std::string lanes = who.vector ? " * kw_lanes" : "";
    if (who.vector && count % 4 != 0) e.set_trouble("a rest of the row");
    const std::string before = std::exchange(e.row_group.item, "");
    const VarId position_before = e.row_group.position;
    if (who.items) {
      const std::string item = e.unique("item");
      const std::string each = who.threads + lanes;
      e.open(fmt::format("#pragma unroll\nfor (int {0} = 0; {0} < {1}; ++{0}) {{", item, blocks_for(count, each)));
      const VarId j =
          e.define("j", fmt::format("({} * {} + {}){}", item, who.threads, who.first, lanes), {0, count - 1}, who.vector);
      e.line(fmt::format("if ({0} % ({1}) != 0 && {2} >= {0}) continue;", count, each, e.name(j)));
      e.row_group.item = item;
      e.row_group.position = j;
      body(j);
      e.close();
    } else {
      const VarId j = e.variable("j", count, who.vector);
      const std::string begin = who.begin.empty() ? who.first + lanes : fmt::format("{} + {}{}", who.begin, who.first, lanes);
      const std::string end = who.end.empty() ? fmt::format("{}", count) : who.end;
      e.open(fmt::format("for ({4} {0} = {1}; {0} < {2}; {0} += {3}) {{", e.name(j), begin, end, who.threads + lanes, type), {j});
      body(j);
      e.close();
    }
    e.row_group.item = before;
    e.row_group.position = position_before;
  };
}

std::vector<ValueId> values_to_keep_in_registers(const GpuWriter& writer, const Stage& stage, const Shape& row_shape) {
  std::map<ValueId, std::set<ValueId>> passes;  // the reductions that read a value; -1: what follows them
  const auto stored = [&](ValueId id) { return writer.plan.buffers.contains(id); };
  const auto own = [&](ValueId id) { return std::ranges::find(stage.roots, id) != stage.roots.end(); };
  for (const ValueId root : stage.roots)
    visit_reached(writer.graph, root, stored, [&](const Reached& at) {
      const Value& value = writer.graph.at(at.value);
      const bool loaded = value.kind == ValueKind::argument || (stored(at.value) && !own(at.value));
      if (!own(at.value) && (loaded || is_costly(value))) passes[at.value].insert(at.within);
    });
  std::vector<ValueId> kept;
  for (const auto& [id, readers] : passes)
    if (readers.size() > 1 && writer.graph.shape(id) == row_shape && writer.graph.dtype(id) == DType::f32) kept.push_back(id);
  return kept;
}

bool write_online_row(GpuWriter& writer, GpuKernel& kernel, const Stage& stage, const Index& row) {
  const SoftmaxPair pair = softmax_pair(writer.graph, writer.plan, stage);
  if (pair.sum < 0) return false;
  Emitter& e = kernel.e;
  const Value& maximum = writer.graph.at(pair.maximum);
  const Shape& shape = writer.graph.shape(maximum.operands[0]);
  const Shape reduced = shape_of_dims(shape, maximum.dims);
  Index result;
  for (const auto& use : pair.uses) {
    if (use.same < 0 && use.dims != 0) return false;
    result.push_back(use.same < 0 ? Affine(0) : row[static_cast<std::size_t>(use.same)]);
  }
  std::vector<int> free;
  for (int d = 0; d < static_cast<int>(shape.size()); ++d)
    if (std::ranges::find(maximum.dims, d) == maximum.dims.end()) free.push_back(d);
  const bool vector = e.row_group.vector;
  const std::string type = vector ? "kw_vec" : "float";
  const std::string top = e.unique("top"), total = e.unique("total");
  const auto start = [&](const char* number) { return vector ? fmt::format("kw_splat({})", number) : std::string(number); };
  // Not minus infinity: the difference of two of them has no value.
  e.line(fmt::format("{} {} = {};", type, top, start("-3.402823466e+38f")));
  e.line(fmt::format("{} {} = {};", type, total, start("0.0f")));
  e.row_group.loop(numel(reduced), [&](VarId j) {
    const Index at =
        with_dims(with_dims(Index(shape.size()), free, result), maximum.dims, e.unflatten(Affine::variable(j), reduced));
    const Expr value = e.emit(maximum.operands[0], at);
    e.line(fmt::format("kw_online_step({}, {}, {});", top, total, vector ? e.as_vector(value).text : value.text));
  });
  const std::string greatest = e.unique("maximum"), sum = e.unique("sum");
  const auto joined = [&](const char* fn, const std::string& own) {
    return fmt::format(fmt::runtime(e.row_group.join), fn, vector ? fmt::format("kw_{}({})", fn, own) : own);
  };
  e.line(fmt::format("const float {} = {};", greatest, joined("max", top)));
  e.line(fmt::format("const float {} = {};", sum, joined("sum", fmt::format("({} * kw_exp({} - {}))", total, top, greatest))));
  e.provide(pair.maximum, result, {greatest, DType::f32, false});
  e.provide(pair.sum, result, {sum, DType::f32, false});
  kernel.claim("online_row");
  return true;
}

const GpuFamily gpu_rows_family{"rows", write_rows};

}  // namespace kw
