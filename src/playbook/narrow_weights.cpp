#include "playbook/narrow_weights.h"

#include <set>

namespace kw {

bool lies_narrow(const Graph& graph, ValueId value) {
  std::set<ValueId> seen;
  std::vector<ValueId> open{value};
  std::int64_t bytes = 0, most = 0;
  bool narrow = false;
  while (!open.empty()) {
    const ValueId id = open.back();
    open.pop_back();
    if (!seen.insert(id).second) continue;
    const Value& of = graph.at(id);
    open.insert(open.end(), of.operands.begin(), of.operands.end());
    if (of.kind != ValueKind::argument) continue;
    const std::int64_t count = numel(of.shape);
    bytes += count * static_cast<std::int64_t>(size_of(of.dtype));
    if (count <= most) continue;
    most = count;
    narrow = of.dtype != DType::boolean && size_of(of.dtype) <= 2;
  }
  return narrow && bytes <= 3 * numel(graph.shape(value));
}

}  // namespace kw
