#include "playbook/reach.h"

#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "playbook/writing_limit.h"

namespace kw {
namespace {

// Dimensions of a reshape's operand by those of its result: groups of both with the same number of elements.
std::vector<DimUse> through_reshape(const Shape& from, const Shape& to, const std::vector<DimUse>& uses) {
  std::vector<DimUse> result(to.size());
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < from.size() || j < to.size()) {
    const std::size_t first_i = i;
    const std::size_t first_j = j;
    std::int64_t a = i < from.size() ? from[i++] : 1;
    std::int64_t b = j < to.size() ? to[j++] : 1;
    while (a != b) {
      if (a < b && i < from.size()) {
        a *= from[i++];
      } else if (j < to.size()) {
        b *= to[j++];
      } else {
        break;
      }
    }
    std::uint64_t dims = 0;
    for (std::size_t k = first_i; k < i; ++k) dims |= uses[k].dims;
    const bool single = i == first_i + 1 && j == first_j + 1;
    for (std::size_t k = first_j; k < j; ++k) result[k] = {to[k] == 1 ? 0 : dims, single ? uses[first_i].same : -1};
  }
  return result;
}

class ReachWalk {
 public:
  ReachWalk(const Graph& graph, ValueId root, const std::function<bool(ValueId)>& is_stored,
            const std::function<void(const Reached&)>& visit)
      : graph_(graph), root_(root), is_stored_(is_stored), visit_(visit) {}

  void walk(const Reached& at) {
    count_writing();
    std::string key = fmt::format("{}|{}", at.value, at.within);
    for (const auto& use : at.uses) key += fmt::format("|{}:{}", use.dims, use.same);
    if (!seen_.insert(key).second) return;
    visit_(at);
    const Value& value = graph_.at(at.value);
    if (at.value != root_ && is_stored_(at.value)) return;
    switch (value.kind) {
      case ValueKind::view: {
        Reached next{value.operands[0], {}, at.within};
        for (const auto& map : value.map) {
          if (map.out_dim < 0) {
            next.uses.emplace_back();
            continue;
          }
          DimUse use = at.uses[static_cast<std::size_t>(map.out_dim)];
          if (map.scale != 1 || map.offset != 0) use.same = -1;
          next.uses.push_back(use);
        }
        walk(next);
        return;
      }
      case ValueKind::reshape:
        walk({value.operands[0], through_reshape(value.shape, graph_.shape(value.operands[0]), at.uses), at.within});
        return;
      case ValueKind::reduce:
      case ValueKind::arg_reduce: {
        Reached next{value.operands[0], at.uses, at.within < 0 ? at.value : at.within};
        for (const int d : value.dims) next.uses.insert(next.uses.begin() + d, DimUse{kReducedBit, -1});
        walk(next);
        return;
      }
      case ValueKind::gather: {
        Reached next{value.operands[0], at.uses, at.within};
        next.uses[static_cast<std::size_t>(value.dims[0])] = {at.dims(), -1};
        walk(next);
        walk({value.operands[1], at.uses, at.within});
        return;
      }
      case ValueKind::product:
        walk({value.operands[0], {at.uses[0], at.uses[1], {kReducedBit, -1}}, at.within});
        walk({value.operands[1], {at.uses[0], {kReducedBit, -1}, at.uses[2]}, at.within});
        return;
      case ValueKind::convolution: {
        const DimUse summed{kReducedBit, -1};
        Reached input{value.operands[0], at.uses, at.within};
        for (std::size_t d = 2; d < input.uses.size(); ++d) input.uses[d] = {at.uses[d].dims | kReducedBit, -1};
        input.uses[1] = value.groups == 1 ? summed : DimUse{at.uses[1].dims | kReducedBit, -1};
        Reached weight{value.operands[1], std::vector<DimUse>(at.uses.size(), summed), at.within};
        weight.uses[0] = at.uses[1];
        walk(input);
        walk(weight);
        return;
      }
      case ValueKind::recurrence:
        for (const ValueId operand : value.operands)
          walk({operand, std::vector<DimUse>(graph_.shape(operand).size(), DimUse{at.dims() | kReducedBit, -1}), at.within});
        return;
      case ValueKind::pad:
      case ValueKind::concat:
      case ValueKind::window:
      case ValueKind::scan: {
        std::vector<DimUse> uses = at.uses;
        for (auto& use : uses) use.same = -1;
        if (value.kind == ValueKind::window || value.kind == ValueKind::scan)
          for (auto& use : uses) use.dims |= kReducedBit;
        for (const ValueId operand : value.operands)
          walk({operand, graph_.shape(operand).empty() ? std::vector<DimUse>{} : uses, at.within});
        return;
      }
      default:
        for (const ValueId operand : value.operands) walk({operand, at.uses, at.within});
    }
  }

 private:
  const Graph& graph_;
  ValueId root_;
  const std::function<bool(ValueId)>& is_stored_;
  const std::function<void(const Reached&)>& visit_;
  std::set<std::string> seen_;
};

}  // namespace

void visit_reached(const Graph& graph, ValueId root, const std::function<bool(ValueId)>& is_stored,
                   const std::function<void(const Reached&)>& visit) {
  Reached start{root, {}, -1};
  for (int d = 0; d < static_cast<int>(graph.shape(root).size()); ++d)
    start.uses.push_back({graph.shape(root)[static_cast<std::size_t>(d)] == 1 ? 0 : std::uint64_t{1} << d, d});
  ReachWalk(graph, root, is_stored, visit).walk(start);
}

ValueId behind_reshapes(const Graph& graph, ValueId id) {
  for (;;) {
    const Value& value = graph.at(id);
    if (value.kind == ValueKind::reshape) {
      id = value.operands[0];
      continue;
    }
    if (value.kind != ValueKind::view || numel(value.shape) != numel(graph.shape(value.operands[0]))) return id;
    int last = -1;
    for (std::size_t d = 0; d < value.map.size(); ++d) {
      const DimMap& map = value.map[d];
      // One position of a dimension that has more, repeated along another one, is as large as its operand and yet another value.
      if (map.out_dim < 0 && graph.shape(value.operands[0])[d] != 1) return id;
      if (map.out_dim < 0) continue;
      if (map.out_dim < last || map.scale != 1 || map.offset != 0) return id;
      last = map.out_dim;
    }
    id = value.operands[0];
  }
}

bool is_contraction(const Value& value) { return value.kind == ValueKind::product || value.kind == ValueKind::convolution; }

bool is_anchor(const Value& value) {
  return is_contraction(value) || value.kind == ValueKind::window || value.kind == ValueKind::scan ||
         value.kind == ValueKind::arg_reduce || value.kind == ValueKind::recurrence;
}

bool is_never_positive(const Graph& graph, ValueId id) {
  const Value& value = graph.at(id);
  if (value.kind != ValueKind::pointwise) return false;
  if (value.fn == "neg") {
    const Value& size = graph.at(value.operands[0]);
    return size.kind == ValueKind::pointwise && (size.fn == "abs" || size.fn == "square" || size.fn == "relu");
  }
  if (value.fn != "sub" || graph.shape(value.operands[0]) != value.shape) return false;
  const ValueId from = value.operands[0];
  const auto is_maximum = [&](ValueId other) {
    const Value& reduction = graph.at(other);
    return reduction.kind == ValueKind::reduce && reduction.fn == "max" && reduction.operands[0] == from;
  };
  bool found = false, of_another_row = false;
  visit_reached(
      graph, id, [&](ValueId other) { return other == from || is_maximum(other); },
      [&](const Reached& at) {
        if (at.value == id || at.value == from) return;
        const Value& value_there = graph.at(at.value);
        if (!is_maximum(at.value)) {
          of_another_row = of_another_row || (value_there.kind != ValueKind::view && value_there.kind != ValueKind::reshape);
          return;
        }
        found = true;
        std::size_t next = 0;
        for (int d = 0; d < static_cast<int>(value.shape.size()); ++d) {
          if (std::ranges::find(value_there.dims, d) != value_there.dims.end()) continue;
          const bool of_one = value.shape[static_cast<std::size_t>(d)] == 1;
          of_another_row = of_another_row || next >= at.uses.size() || (!of_one && at.uses[next].same != d);
          ++next;
        }
      });
  return found && !of_another_row;
}

bool is_computed(const Value& value) {
  return value.kind == ValueKind::pointwise || value.kind == ValueKind::reduce || value.kind == ValueKind::gather ||
         value.kind == ValueKind::pad || value.kind == ValueKind::concat || is_anchor(value);
}

bool counts_where_negative(const Graph& graph, const std::vector<std::vector<ValueId>>& users, ValueId id) {
  const auto is = [&](ValueId value, const char* fn) {
    return graph.at(value).kind == ValueKind::pointwise && graph.at(value).fn == fn;
  };
  // The constant that is the second operand of `value`, if it is this function.
  const auto constant_of = [&](ValueId value, const char* fn) {
    return is(value, fn) ? constant_behind(graph, graph.at(value).operands[1]) : nullptr;
  };
  if (!is(id, "expm1")) return false;
  ValueId argument = graph.at(id).operands[0];
  if (const Value* scale = constant_of(argument, "mul"); scale && scale->number > 0) argument = graph.at(argument).operands[0];
  ValueId side = id;  // the expm1, or a multiple of it
  const auto only_reader = [&] {
    const auto& readers = users[static_cast<std::size_t>(side)];
    return readers.size() == 1 ? readers[0] : -1;
  };
  if (const ValueId reader = only_reader(); reader >= 0 && constant_of(reader, "mul")) side = reader;
  const ValueId chosen = only_reader();
  if (chosen < 0 || !is(chosen, "where")) return false;
  const auto& sides = graph.at(chosen).operands;
  const Value* bound = constant_of(sides[0], "gt");
  return sides[2] == side && sides[1] != side && bound && bound->number == 0 && graph.at(sides[0]).operands[0] == argument;
}

}  // namespace kw
