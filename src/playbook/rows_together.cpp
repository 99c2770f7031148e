#include "playbook/rows_together.h"

#include <algorithm>

#include <fmt/format.h>

#include "playbook/loops.h"
#include "playbook/reach.h"

namespace kw {
namespace {

constexpr std::int64_t kLongestRow = 8192;  // elements: longer ones are streams of their own

struct OnlyReduction {
  ValueId value = -1;
  int count = 0;
  std::vector<DimUse> uses;
};

OnlyReduction only_reduction(const StageWriter& writer, const Stage& stage) {
  OnlyReduction found;
  const auto stored = [&](ValueId id) { return writer.plan.buffers.contains(id) && id != stage.roots[0]; };
  visit_reached(writer.graph, stage.roots[0], stored, [&](const Reached& at) {
    if (writer.graph.at(at.value).kind != ValueKind::reduce || stored(at.value)) return;
    if (at.value != found.value) ++found.count;
    found.value = at.value;
    found.uses = at.uses;
  });
  return found;
}

}  // namespace

bool write_rows_together(StageWriter& writer, const Stage& stage, std::int64_t rows, std::int64_t work) {
  if (!writer.wants("tile_rows_together") || !writer.wants("explicit_vectors") || stage.roots.size() != 1) return false;
  const Shape& shape = writer.graph.shape(stage.roots[0]);
  if (stage.row_dims.size() != shape.size()) return false;
  const OnlyReduction only = only_reduction(writer, stage);
  if (only.count != 1) return false;
  const Value& reduction = writer.graph.at(only.value);
  const Shape& operand = writer.graph.shape(reduction.operands[0]);
  const Shape reduced = shape_of_dims(operand, reduction.dims);
  const std::int64_t count = numel(reduced);
  if (reduction.dtype != DType::f32 || count > kLongestRow || count < kMostLanes) return false;
  if (count % kMostLanes != 0 && !writer.wants("masked_tails")) return false;
  std::vector<std::int64_t> sizes;
  for (const std::int64_t size : {2, 4, 8})
    if (rows % size == 0 && rows / size >= 4 * writer.machine.threads) sizes.push_back(size);
  if (sizes.empty()) return false;

  Emitter& e = writer.emitter;
  return writer.attempt([&] {
    writer.use("explicit_vectors");
    writer.use("tile_rows_together");
    writer.knob("KW_TOGETHER", sizes[sizes.size() > 1 ? 1 : 0], sizes);
    e.need("splat");
    const std::string group = e.unique("group");
    const std::string pragma = writer.parallel_pragma(rows / sizes.back(), work, true);
    e.open(fmt::format("{2}for (std::int64_t {0} = 0; {0} < {1} / KW_TOGETHER; ++{0}) {{", group, rows,
                       pragma.empty() ? "" : pragma + "\n"));
    const std::string lanes = e.unique("lanes");
    e.line(fmt::format("kw_vec {}[KW_TOGETHER];", lanes));
    e.line(fmt::format("for (auto& start : {}) start = kw_splat({});", lanes, Emitter::identity(reduction.fn, DType::f32)));
    // The loop over the group; answers with the row's index.
    const auto open_rows = [&](std::string& r) {
      r = e.unique("r");
      e.open(fmt::format("#pragma GCC unroll 8\nfor (int {0} = 0; {0} < KW_TOGETHER; ++{0}) {{", r));
      const VarId row = e.define("row", fmt::format("{} * KW_TOGETHER + {}", group, r), {0, rows - 1});
      return e.unflatten(Affine::variable(row), shape);
    };
    const auto result_index = [&](const Index& row) {
      Index index;
      for (const auto& use : only.uses) {
        if (use.same < 0 && use.dims != 0) e.set_trouble("a reduction at a position that is not the row's own");
        index.push_back(use.same < 0 ? Affine(0) : row[static_cast<std::size_t>(use.same)]);
      }
      return index;
    };
    const auto step = [&](VarId j) {
      std::string r;
      const Index result = result_index(open_rows(r));
      const Index at = operand_index(reduction, result, e.unflatten(Affine::variable(j), reduced));
      const Expr term = e.as_vector(e.emit(reduction.operands[0], at));
      const Expr counting = e.part_of == j ? e.within_part(term, Emitter::identity(reduction.fn, DType::f32)) : term;
      const std::string acc = fmt::format("{}[{}]", lanes, r);
      e.line(fmt::format("{} = {};", acc, e.combine(reduction.fn, {acc, DType::f32, true}, counting).text));
      e.close();
    };
    const VarId j = e.variable("j", count, true);
    e.open(fmt::format("for (std::int64_t {0} = 0; {0} + kw_lanes <= {1}; {0} += kw_lanes) {{", e.name(j), count), {j});
    step(j);
    e.close();
    if (count % kMostLanes != 0) {
      step(e.open_tail(count));
      e.close_tail();
    }
    std::string r;
    const Index row = open_rows(r);
    const Expr across = e.across_lanes(reduction.fn, {fmt::format("{}[{}]", lanes, r), DType::f32, true});
    const Index result = result_index(row);
    e.provide(only.value, result, e.named("result", across.text, DType::f32, false, row));
    store_targets(writer, {{stage.roots[0], stage.roots[0], Index(shape.size())}}, row);
    e.close();
    e.close();
  });
}

}  // namespace kw
