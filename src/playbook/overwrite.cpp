#include "playbook/overwrite.h"

#include <algorithm>

#include "playbook/reach.h"

namespace kw {
namespace {

// `read` and what only gives it another shape, among what the root reaches; and those of them that something else reads.
struct Shapes {
  std::set<ValueId> all;
  std::set<ValueId> outermost;
};

Shapes shapes_of(const Graph& graph, const std::set<ValueId>& reached, ValueId read) {
  Shapes shapes{{read}, {}};
  for (const ValueId id : reached)  // operands come before what reads them
    if (behind_reshapes(graph, id) != id && shapes.all.contains(graph.at(id).operands[0])) shapes.all.insert(id);
  for (const ValueId id : reached)
    for (const ValueId operand : graph.at(id).operands)
      if (!shapes.all.contains(id) && shapes.all.contains(operand)) shapes.outermost.insert(operand);
  return shapes;
}

}  // namespace

bool may_write_over(const Plan& plan, const Graph& graph, const Stage& stage, ValueId root, ValueId read) {
  const Shape& shape = graph.shape(root);
  if (stage.anchor >= 0 || stage.roots.size() != 1 || graph.at(root).kind != ValueKind::pointwise) return false;
  if (graph.dtype(root) != graph.dtype(read) || numel(shape) != numel(graph.shape(read)) || shape.empty()) return false;
  std::uint64_t rows = 0;
  for (const int d : stage.row_dims) rows |= std::uint64_t{1} << d;
  // Rows that lie side by side are not done one after the other.
  if (stage.has_reductions && (stage.row_dims.empty() || stage.row_dims.back() + 1 == static_cast<int>(shape.size()))) return false;

  const auto stored = [&](ValueId id) { return plan.buffers.contains(id); };
  std::set<ValueId> reached;
  visit_reached(graph, root, stored, [&](const Reached& at) { reached.insert(at.value); });
  const Shapes shapes = shapes_of(graph, reached, read);
  bool may = true;
  std::set<ValueId> of_rows, of_rows_inside;  // read at one place of each row; also by a reduction, which comes first
  visit_reached(graph, root, stored, [&](const Reached& at) {
    if (!shapes.outermost.contains(at.value)) return;
    if (graph.shape(at.value) != shape) {
      may = false;
      return;
    }
    const bool inside = at.within >= 0;
    bool own_row = true, own_place = true;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == 1 || at.uses[d].same == static_cast<int>(d)) continue;
      own_place = false;
      if ((rows >> d & 1) != 0) own_row = false;
    }
    const bool by_row = own_row && (at.dims() & ~rows) == 0;
    if (by_row && !own_place) (inside ? of_rows_inside : of_rows).insert(at.value);
    const bool in_reduction = inside && own_row && (at.dims() & ~kReducedBit & ~rows) == 0;
    may = may && (own_place || by_row || in_reduction);
  });
  may = may && std::ranges::includes(of_rows_inside, of_rows);
  return may;
}

}  // namespace kw
