// Reductions and what is made of them, row by row: everything of a row while it is in cache.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "playbook/loops.h"
#include "playbook/reach.h"
#include "playbook/row_online.h"
#include "playbook/rows_together.h"

namespace kw {
namespace {

constexpr std::int64_t kMostKeptBytes = 512 * 1024;

std::string rows_why_not(const StageWriter& writer, const Stage& stage) {
  if (stage.anchor >= 0) return "it has an anchor";
  if (!stage.has_reductions) return "it has no reductions";
  if (!writer.wants("explicit_vectors") && !writer.wants("parallel_outer") && !writer.wants("fuse_row_passes"))
    return "neither vectors nor threads are wanted";
  return "";
}

bool is_worth_keeping(const Value& value) { return is_costly(value) || (value.kind == ValueKind::pointwise && value.fn == "div"); }

// Costly values that a row needs both in a reduction and after it.
std::vector<ValueId> values_to_keep(const StageWriter& writer, const Stage& stage) {
  std::map<ValueId, std::pair<bool, bool>> seen;  // inside a reduction, outside
  const auto stored = [&](ValueId id) { return writer.plan.buffers.contains(id); };
  for (const ValueId root : stage.roots)
    visit_reached(writer.graph, root, stored, [&](const Reached& at) {
      if (!is_worth_keeping(writer.graph.at(at.value)) || at.value == root) return;
      (at.within >= 0 ? seen[at.value].first : seen[at.value].second) = true;
    });
  std::vector<ValueId> kept;
  for (const auto& [id, where] : seen)
    if (where.first && where.second && writer.graph.shape(id) == writer.graph.shape(stage.roots[0]) &&
        writer.graph.dtype(id) == DType::f32)
      kept.push_back(id);
  return kept;
}

// A sum along the whole row of what is kept, if there is one: it is taken while the values are made.
ValueId sum_of_kept(const StageWriter& writer, ValueId id, const std::vector<int>& inner_dims, std::int64_t count) {
  constexpr std::int64_t kLongRow = 65536;  // beyond it one running sum a lane would show its rounding
  for (ValueId sum = 0; sum < writer.graph.size() && count <= kLongRow; ++sum) {
    const Value& value = writer.graph.at(sum);
    if (value.kind == ValueKind::reduce && value.fn == "sum" && value.operands[0] == id && value.dims == inner_dims &&
        value.dtype == DType::f32 && !writer.plan.buffers.contains(sum))
      return sum;
  }
  return -1;
}

Index at_dims(const Index& index, const std::vector<int>& dims) {
  Index part;
  for (const int d : dims) part.push_back(index[static_cast<std::size_t>(d)]);
  return part;
}

// Memory of the thread's own for a row of a value; none where it would be too much or too little.
std::optional<Buffer> room_for_row(StageWriter& writer, ValueId id, const std::vector<int>& row_dims) {
  Emitter& e = writer.emitter;
  Buffer buffer{"", DType::f32, writer.graph.shape(id), false};
  for (const int d : row_dims) buffer.shape[static_cast<std::size_t>(d)] = 1;
  const std::int64_t count = numel(buffer.shape);
  if (count * 4 > kMostKeptBytes || count < kMostLanes) return std::nullopt;
  buffer.name = e.unique("kept");
  e.in_cache.insert(buffer.name);
  constexpr std::int64_t kMostOnStack = 64 * 1024;
  if (count * 4 <= kMostOnStack) {
    e.line(fmt::format("alignas(64) float {}[{}];", buffer.name, count));
  } else {
    e.line(
        fmt::format("float* const {} = {};", buffer.name, writer.scratch("row_values", "float", fmt::format("{}", count), true)));
  }
  return buffer;
}

// What an element of a value costs to compute again, in operations and loads beyond the first.
int effort_of(const StageWriter& writer, ValueId id) {
  std::set<ValueId> seen;
  int effort = -1;
  const auto stored = [&](ValueId other) { return writer.plan.buffers.contains(other); };
  visit_reached(writer.graph, id, stored, [&](const Reached& at) {
    const Value& value = writer.graph.at(at.value);
    if (at.within >= 0 || !seen.insert(at.value).second) return;
    const bool loaded = value.kind == ValueKind::argument || stored(at.value);
    if (loaded || value.kind == ValueKind::pointwise) effort += is_worth_keeping(value) ? 3 : 1;
  });
  return effort;
}

// A softmax reads its row for the maximum first. What takes some effort to compute is kept from there on. -1: nothing is.
ValueId keep_row_of_maximum(StageWriter& writer, const Stage& stage, const Index& index, const std::vector<int>& inner_dims) {
  constexpr int kWorthKeeping = 3;
  Emitter& e = writer.emitter;
  std::set<ValueId> maxima;
  const auto stored = [&](ValueId id) { return writer.plan.buffers.contains(id); };
  for (const ValueId root : stage.roots)
    visit_reached(writer.graph, root, stored, [&](const Reached& at) {
      const Value& value = writer.graph.at(at.value);
      if (value.kind != ValueKind::reduce || value.fn != "max" || value.dims != inner_dims || stored(at.value)) return;
      const Value& operand = writer.graph.at(value.operands[0]);
      if (operand.shape != writer.graph.shape(stage.roots[0]) || operand.dtype != DType::f32 || stored(value.operands[0])) return;
      if (effort_of(writer, value.operands[0]) >= kWorthKeeping) maxima.insert(at.value);
    });
  if (maxima.size() != 1) return -1;
  const ValueId operand = writer.graph.at(*maxima.begin()).operands[0];
  const Index of_row = at_dims(index, stage.row_dims);
  const bool written = writer.attempt([&] {
    const auto buffer = room_for_row(writer, operand, stage.row_dims);
    if (!buffer) return e.set_trouble("no room for a row");
    e.row_copy = {operand, *buffer, false};
    ask_ahead(writer);
    e.emit(*maxima.begin(), of_row);
    e.prefetch.clear();
    if (!e.row_copy.written) e.set_trouble("the row was not written");
  });
  if (written) {
    e.materialise(operand, e.row_copy.buffer);
    writer.use("keep_row_values");
  }
  e.row_copy = {};
  return written ? operand : -1;
}

// The row of a table that is picked some rows later, line by line.
void ask_for_later_picks(StageWriter& writer, const Stage& stage, VarId row, const std::vector<int>& inner_dims) {
  constexpr std::int64_t kRowsAhead = 2, kMostBytes = 16 * 1024;
  Emitter& e = writer.emitter;
  const Shape shape = writer.graph.shape(stage.roots[0]);
  const Shape inner = shape_of_dims(shape, inner_dims);
  const std::int64_t rows = product_of(shape, stage.row_dims);
  if (numel(inner) * 4 > kMostBytes || rows <= kRowsAhead) return;
  std::set<ValueId> gathers;
  const auto stored = [&](ValueId id) { return writer.plan.buffers.contains(id); };
  for (const ValueId root : stage.roots)
    visit_reached(writer.graph, root, stored, [&](const Reached& at) {
      const Value& value = writer.graph.at(at.value);
      if (value.kind == ValueKind::gather && numel(value.shape) == numel(shape) && value.dtype == DType::f32 && !stored(at.value))
        gathers.insert(at.value);
    });
  for (const ValueId id : gathers)
    writer.attempt([&] {
      const Value& gather = writer.graph.at(id);
      const VarId later =
          e.define("later", fmt::format("{0} + {1} < {2} ? {0} + {1} : {0}", e.name(row), kRowsAhead, rows), {0, rows - 1});
      const VarId along = e.variable("line", numel(inner));
      e.open(fmt::format("for (std::int64_t {0} = 0; {0} < {1}; {0} += 16) {{", e.name(along), numel(inner)), {along});
      Index at(shape.size());
      at = with_dims(at, stage.row_dims, e.unflatten(Affine::variable(later), shape_of_dims(shape, stage.row_dims)));
      at = with_dims(at, inner_dims, e.unflatten(Affine::variable(along), inner));
      if (gather.shape != shape) at = e.unflatten(e.flatten(at, shape), gather.shape);  // read through a reshape
      const Emitter::Place pick = e.place_of(gather.operands[1], at);
      const auto dim = static_cast<std::size_t>(gather.dims[0]);
      at[dim] = Affine(0);
      const Emitter::Place first = e.place_of(gather.operands[0], at);
      at[dim] = Affine(1);
      const Emitter::Place second = e.place_of(gather.operands[0], at);
      const bool whole_row = first.found && first.dtype == DType::f32 && first.position.coefficient(along) == 1;
      if (!whole_row || !pick.found || pick.position.coefficient(along) != 0) return e.set_trouble("no rows are picked");
      e.line(fmt::format("__builtin_prefetch({} + {} + {}[{}] * {});", first.pointer, e.text(first.position), pick.pointer,
                         e.text(pick.position), second.position.constant - first.position.constant));
      e.close();
      writer.use("prefetch_gather");
    });
}

// Computes a row of a value into memory of the thread's own; what follows reads it there. False: there is no room.
bool keep_row(StageWriter& writer, ValueId id, const Index& index, const std::vector<int>& row_dims,
              const std::vector<int>& inner_dims, InnerForm form) {
  Emitter& e = writer.emitter;
  const auto room = room_for_row(writer, id, row_dims);
  if (!room) return false;
  const Buffer& buffer = *room;
  const std::int64_t count = numel(buffer.shape);
  const Shape inner = shape_of_dims(writer.graph.shape(id), inner_dims);
  const auto loops = [&] {
    const ValueId summed = sum_of_kept(writer, id, inner_dims, count);
    const std::string lanes = summed < 0 ? "" : e.unique("lanes");
    const std::string rest = summed < 0 ? "" : e.unique("sum");
    if (summed >= 0) {
      e.need("splat");
      e.need("sum");
      e.line(fmt::format("kw_vec {} = kw_splat(0.0f);\nfloat {} = 0.0f;", lanes, rest));
    }
    write_vector_loop(writer, count, "0", fmt::format("{}", count), [&](VarId j) {
      const Index at = with_dims(index, inner_dims, e.unflatten(Affine::variable(j), inner));
      const Expr value = e.emit(id, at);
      e.store(buffer, at, value);
      if (summed >= 0) e.line(fmt::format("{} += {};", value.vector ? lanes : rest, e.within_part(value, "0.0f").text));
    });
    if (summed < 0) return;
    e.line(fmt::format("{} += kw_sum({});", rest, lanes));
    e.provide(summed, at_dims(index, row_dims), {rest, DType::f32, false});
  };
  if (form == InnerForm::scalar || !writer.attempt(loops)) {
    Index parts;
    for (const auto size : inner) parts.push_back(Affine::variable(e.open_loop("k", size)));
    const Index at = with_dims(index, inner_dims, parts);
    e.store(buffer, at, e.emit(id, at));
    for (std::size_t i = 0; i < inner.size(); ++i) e.close();
  }
  e.materialise(id, buffer);
  writer.use("keep_row_values");
  return true;
}

void write_rows(StageWriter& writer, const Stage& stage) {
  Emitter& e = writer.emitter;
  const Shape shape = writer.graph.shape(stage.roots[0]);
  std::vector<int> inner_dims;
  for (int d = 0; d < static_cast<int>(shape.size()); ++d)
    if (std::ranges::find(stage.row_dims, d) == stage.row_dims.end()) inner_dims.push_back(d);
  std::int64_t work = numel(shape);
  const auto stored = [&](ValueId id) { return writer.plan.buffers.contains(id); };
  for (const ValueId root : stage.roots)
    visit_reached(writer.graph, root, stored,
                  [&](const Reached& at) { work = std::max(work, numel(writer.graph.shape(at.value))); });
  const std::int64_t rows = product_of(shape, stage.row_dims);
  if (write_rows_together(writer, stage, rows, work)) return;
  e.reduce_style = wanted_reduce_style(writer);
  const InnerForm form = writer.wants("explicit_vectors") ? InnerForm::any : InnerForm::scalar;
  Index index(shape.size());
  const bool looped = rows > 1;
  if (looped) {
    const VarId row = e.open_loop("row", rows, writer.parallel_pragma(rows, work, true));
    index = with_dims(index, stage.row_dims, e.unflatten(Affine::variable(row), shape_of_dims(shape, stage.row_dims)));
    if (writer.wants("prefetch_gather")) ask_for_later_picks(writer, stage, row, inner_dims);
  } else {
    e.open("{");
  }
  // Longer rows leave no room for the next one beside them.
  constexpr std::int64_t kMostNextRow = 64 * 1024;
  const std::int64_t row_bytes = work / std::max<std::int64_t>(rows, 1) * 4;
  if (looped && writer.wants("prefetch_next_row") && row_bytes <= kMostNextRow)
    e.next_row = {.bytes = row_bytes, .depth = e.depth()};
  std::vector<ValueId> kept;
  ValueId of_maximum = -1;
  // Of a single row, what depends on no variable is written before the block: it has to come after what it reads.
  const bool apart = !looped && stage.roots.size() > 1;
  const bool online = !apart && writer.wants("online_softmax") && write_online_softmax(writer, stage, index);
  if (!online && !apart && writer.wants("online_moments")) write_online_moments(writer, stage, index);
  // What reduces a single row is written before the block that would have its values.
  if (!online && looped && writer.wants("keep_row_values") && !inner_dims.empty()) {
    if (form == InnerForm::any) of_maximum = keep_row_of_maximum(writer, stage, index, inner_dims);
    kept = values_to_keep(writer, stage);
    std::erase(kept, of_maximum);
  }
  for (const ValueId id : kept) keep_row(writer, id, index, stage.row_dims, inner_dims, form);
  for (const ValueId root : stage.roots) {
    // What goes past the caches is read by the roots after it where it was kept.
    const bool kept_beside = looped && !inner_dims.empty() && writer.plan.read_back.contains(root) && large_output(writer, root) &&
                             keep_row(writer, root, index, stage.row_dims, inner_dims, form);
    if (inner_dims.empty()) {
      store_targets(writer, {{root, root, Index(shape.size())}}, index);
    } else {
      const auto targets = targets_of(writer, root, 0);
      const bool pieces = targets.size() > 1 && std::ranges::find(inner_dims, writer.graph.at(root).dims[0]) != inner_dims.end();
      if (pieces) {
        for (const auto& target : targets) write_inner_loops(writer, {target}, index, inner_dims, form);
      } else {
        write_inner_loops(writer, {{root, root, Index(shape.size())}}, index, inner_dims, form);
      }
    }
    if (root == stage.roots.back() || kept_beside) continue;
    if (apart) e.close();
    e.materialise(root, writer.buffer(root));
    if (apart) e.open("{");
  }
  for (const ValueId id : kept) e.forget(id);
  e.forget(of_maximum);
  e.close();
  if (form == InnerForm::any) writer.use("explicit_vectors");
  e.reduce_style = {};
  e.next_row = {};
}

}  // namespace

const Family rows_family{"rows", rows_why_not, write_rows};

}  // namespace kw
