#include "playbook/attention.h"

#include <cmath>

#include "playbook/reach.h"

namespace kw {
namespace {

bool is_pointwise(const Value& value, const char* fn) { return value.kind == ValueKind::pointwise && value.fn == fn; }

bool is_number(const Graph& graph, ValueId id, double number) {
  const Value& value = graph.at(behind_views(graph, id));
  return value.kind == ValueKind::constant && value.number == number;
}

// A reduction over the last dimension alone.
bool reduces_last(const Graph& graph, const Value& value, const char* fn) {
  return value.kind == ValueKind::reduce && value.fn == fn &&
         value.dims == std::vector<int>{static_cast<int>(graph.shape(value.operands[0]).size()) - 1};
}

struct Softmax {
  ValueId scores = -1;
  ValueId maximum = -1;
  ValueId sum = -1;
  bool unseen_is_zero = false;
};

// exp(s - max s) / sum of these, or the same with 0 for rows whose maximum is minus infinity.
std::optional<Softmax> softmax_at(const Graph& graph, ValueId weights) {
  Softmax found;
  const Value* quotient = &graph.at(weights);
  if (is_pointwise(*quotient, "where") && is_number(graph, quotient->operands[1], 0)) {
    const Value& unseen = graph.at(behind_views(graph, quotient->operands[0]));
    if (!is_pointwise(unseen, "eq") || !is_number(graph, unseen.operands[1], -HUGE_VAL)) return std::nullopt;
    found.unseen_is_zero = true;
    found.maximum = behind_views(graph, unseen.operands[0]);
    quotient = &graph.at(quotient->operands[2]);
  }
  if (!is_pointwise(*quotient, "div")) return std::nullopt;
  const Value& raised = graph.at(quotient->operands[0]);
  if (!is_pointwise(raised, "exp")) return std::nullopt;
  found.sum = behind_views(graph, quotient->operands[1]);
  const Value& sum = graph.at(found.sum);
  if (!reduces_last(graph, sum, "sum") || sum.operands[0] != quotient->operands[0]) return std::nullopt;
  const Value& shifted = graph.at(raised.operands[0]);
  if (!is_pointwise(shifted, "sub")) return std::nullopt;
  found.scores = shifted.operands[0];
  const ValueId maximum = behind_views(graph, shifted.operands[1]);
  if (found.unseen_is_zero && maximum != found.maximum) return std::nullopt;
  found.maximum = maximum;
  if (!reduces_last(graph, graph.at(maximum), "max") || graph.at(maximum).operands[0] != found.scores) return std::nullopt;
  return found;
}

bool only_reshapes(const Graph& graph, ValueId id) {
  const Value& value = graph.at(id);
  return value.kind == ValueKind::reshape || (value.kind == ValueKind::view && behind_reshapes(graph, id) != id);
}

// The product of the given shape that a value is made of element by element; -1: there is none.
ValueId product_behind(const Graph& graph, ValueId id, const Shape& shape) {
  const Value& value = graph.at(id);
  if (value.kind == ValueKind::product) return value.shape == shape ? id : -1;
  if (only_reshapes(graph, id)) return product_behind(graph, value.operands[0], shape);
  if (value.kind != ValueKind::pointwise) return -1;
  for (const ValueId operand : value.operands)
    if (const ValueId found = product_behind(graph, operand, shape); found >= 0) return found;
  return -1;
}

// What `from` is made of that is itself made of `base`, both included.
std::set<ValueId> between(const Graph& graph, ValueId from, ValueId base) {
  std::set<ValueId> reached{from};
  for (auto it = reached.rbegin(); it != reached.rend(); ++it)
    for (const ValueId operand : graph.at(*it).operands)
      if (operand >= base) reached.insert(operand);
  std::set<ValueId> made_of{base};
  for (const ValueId id : reached)
    for (const ValueId operand : graph.at(id).operands)
      if (made_of.contains(operand)) {
        made_of.insert(id);
        break;
      }
  return made_of;
}

// Whether a view or reshape leaves the last two dimensions as they are.
bool keeps_matrix(const Graph& graph, const Value& value) {
  const Shape& from = graph.shape(value.operands[0]);
  const std::size_t own = from.size();
  const std::size_t rank = value.shape.size();
  if (own < 2 || rank < 2 || from[own - 1] != value.shape[rank - 1] || from[own - 2] != value.shape[rank - 2]) return false;
  if (value.kind == ValueKind::reshape) return true;
  const int last = static_cast<int>(rank) - 1;
  return value.map[own - 1] == DimMap{last, 1, 0} && value.map[own - 2] == DimMap{last - 1, 1, 0};
}

// Where a condition over positions holds, or where it does not, as a band of its last two dimensions.
std::optional<Band> band_where(const Graph& graph, ValueId id, bool holds) {
  const Value& value = graph.at(id);
  if (is_pointwise(value, "not")) return band_where(graph, value.operands[0], !holds);
  if (is_pointwise(value, "cast")) return band_where(graph, value.operands[0], holds);
  // Ones and zeros by a condition, compared with zero: what masks from torch.tril(torch.ones(...)) come down to.
  if (is_pointwise(value, "eq") && is_number(graph, value.operands[1], 0)) return band_where(graph, value.operands[0], !holds);
  if (is_pointwise(value, "ne") && is_number(graph, value.operands[1], 0)) return band_where(graph, value.operands[0], holds);
  if (is_pointwise(value, "where") && is_number(graph, value.operands[1], 1) && is_number(graph, value.operands[2], 0))
    return band_where(graph, value.operands[0], holds);
  const bool view = value.kind == ValueKind::view || value.kind == ValueKind::reshape;
  if (view && keeps_matrix(graph, value)) return band_where(graph, value.operands[0], holds);
  const auto band = band_of_mask(graph, id);
  if (!band || holds) return band;
  if (band->low <= -kFar) return Band{band->high + 1, kFar};
  if (band->high >= kFar) return Band{-kFar, band->low - 1};
  return std::nullopt;
}

// Outside of the band the scores are minus infinity.
std::optional<Band> seen_band(const Graph& graph, ValueId id) {
  const Value& value = graph.at(id);
  if (is_pointwise(value, "where")) {
    if (is_number(graph, value.operands[2], -HUGE_VAL))
      return intersection(band_where(graph, value.operands[0], true), seen_band(graph, value.operands[1]));
    if (is_number(graph, value.operands[1], -HUGE_VAL))
      return intersection(band_where(graph, value.operands[0], false), seen_band(graph, value.operands[2]));
  }
  return std::nullopt;
}

}  // namespace

std::optional<Attention> attention_at(const Graph& graph, ValueId result, const std::function<bool(ValueId)>& counts) {
  const Value& weighted = graph.at(result);
  if (weighted.kind != ValueKind::product || weighted.dtype != DType::f32) return std::nullopt;
  const ValueId weights = behind_reshapes(graph, weighted.operands[0]);
  const auto softmax = softmax_at(graph, weights);
  if (!softmax) return std::nullopt;
  const Shape& shape = graph.shape(weighted.operands[0]);
  const Shape& own = graph.shape(softmax->scores);
  if (own.size() < 2 || own.back() != shape[2] || own[own.size() - 2] != shape[1]) return std::nullopt;
  Attention found;
  found.result = result;
  found.scores = softmax->scores;
  found.unseen_is_zero = softmax->unseen_is_zero;
  found.product = product_behind(graph, softmax->scores, shape);
  if (found.product < 0) return std::nullopt;
  found.inside = between(graph, weighted.operands[0], found.product);
  const std::set<ValueId> of_scores = between(graph, softmax->scores, found.product);
  const auto users = users_of(graph);
  for (const ValueId id : found.inside) {
    const Value& value = graph.at(id);
    if (value.dtype != DType::f32 && value.dtype != DType::boolean) return std::nullopt;
    for (const ValueId user : users[static_cast<std::size_t>(id)])
      if (counts(user) && user != result && !found.inside.contains(user)) return std::nullopt;
    const bool reduction = id == softmax->maximum || id == softmax->sum;
    const bool view = value.kind == ValueKind::view || value.kind == ValueKind::reshape;
    if (of_scores.contains(id) && view && !only_reshapes(graph, id)) return std::nullopt;
    if (id != found.product && !reduction && !view && value.kind != ValueKind::pointwise) return std::nullopt;
  }
  found.seen = seen_band(graph, softmax->scores);
  return found;
}

}  // namespace kw
