#include "playbook/band.h"

#include <algorithm>

namespace kw {
namespace {

// A value that is its own position along a dimension, plus an offset: {dimension, offset}.
struct PositionAlong {
  int dim = -1;
  std::int64_t offset = 0;
};

std::optional<PositionAlong> position_along(const Graph& graph, ValueId id) {
  const Value& value = graph.at(id);
  if (value.kind == ValueKind::iota) return PositionAlong{0, 0};
  if (value.kind == ValueKind::view) {
    const auto inner = position_along(graph, value.operands[0]);
    if (!inner) return std::nullopt;
    if (inner->dim < 0) return inner;
    const DimMap& map = value.map[static_cast<std::size_t>(inner->dim)];
    if (map.out_dim < 0) return PositionAlong{-1, inner->offset + map.offset};
    if (map.scale != 1) return std::nullopt;
    return PositionAlong{map.out_dim, inner->offset + map.offset};
  }
  if (value.kind == ValueKind::constant) return PositionAlong{-1, static_cast<std::int64_t>(value.number)};
  if (value.kind == ValueKind::pointwise && value.fn == "cast") return position_along(graph, value.operands[0]);
  if (value.kind == ValueKind::pointwise && (value.fn == "add" || value.fn == "sub")) {
    const auto a = position_along(graph, value.operands[0]);
    const auto b = position_along(graph, value.operands[1]);
    if (!a || !b || b->dim >= 0) return std::nullopt;
    return PositionAlong{a->dim, value.fn == "add" ? a->offset + b->offset : a->offset - b->offset};
  }
  return std::nullopt;
}

Band flipped_band(const Band& band) { return {-band.high, -band.low}; }

// The band of a view, from that of its operand. Broadcasting and transposing: where the last two dimensions end up.
std::optional<Band> through_view(const Value& view, const std::optional<Band>& band) {
  const int rank = static_cast<int>(view.shape.size());
  const int own = static_cast<int>(view.map.size());
  if (!band || rank < 2 || own < 2) return std::nullopt;
  const DimMap row = view.map[static_cast<std::size_t>(own) - 2];
  const DimMap column = view.map[static_cast<std::size_t>(own) - 1];
  if (row == DimMap{rank - 2, 1, 0} && column == DimMap{rank - 1, 1, 0}) return band;
  if (row == DimMap{rank - 1, 1, 0} && column == DimMap{rank - 2, 1, 0}) return flipped_band(*band);
  return std::nullopt;
}

bool is_zero(const Graph& graph, ValueId id) {
  while (graph.at(id).kind == ValueKind::view) id = graph.at(id).operands[0];
  return graph.at(id).kind == ValueKind::constant && graph.at(id).number == 0;
}

}  // namespace

std::optional<Band> band_of_mask(const Graph& graph, ValueId id) {
  const Value& value = graph.at(id);
  if (value.kind == ValueKind::view) {
    return through_view(value, band_of_mask(graph, value.operands[0]));
  }
  if (value.kind != ValueKind::pointwise || value.operands.size() != 2) return std::nullopt;
  auto a = position_along(graph, value.operands[0]);
  auto b = position_along(graph, value.operands[1]);
  if (!a || !b) return std::nullopt;
  const int column = static_cast<int>(value.shape.size()) - 1;
  std::string fn = value.fn;
  if (a->dim == column - 1 && b->dim == column) {
    std::swap(a, b);
    fn = fn == "le" ? "ge" : fn == "lt" ? "gt" : fn == "ge" ? "le" : fn == "gt" ? "lt" : fn;
  }
  if (a->dim != column || b->dim != column - 1) return std::nullopt;
  const std::int64_t shift = b->offset - a->offset;  // column (fn) row + shift
  if (fn == "le") return Band{-kFar, shift};
  if (fn == "lt") return Band{-kFar, shift - 1};
  if (fn == "ge") return Band{shift, kFar};
  if (fn == "gt") return Band{shift + 1, kFar};
  if (fn == "eq") return Band{shift, shift};
  return std::nullopt;
}

std::optional<Band> intersection(const std::optional<Band>& a, const std::optional<Band>& b) {
  if (!a) return b;
  if (!b) return a;
  return Band{std::max(a->low, b->low), std::min(a->high, b->high)};
}

std::optional<Band> band_of(const Graph& graph, ValueId id) {
  const Value& value = graph.at(id);
  if (value.shape.size() < 2 && value.kind != ValueKind::reshape) return std::nullopt;
  if (value.kind == ValueKind::view) {
    return through_view(value, band_of(graph, value.operands[0]));
  }
  if (value.kind == ValueKind::reshape) {
    const Shape& shape = graph.shape(value.operands[0]);
    if (shape.size() < 2 || value.shape.size() < 2 || shape.back() != value.shape.back() ||
        shape[shape.size() - 2] != value.shape[value.shape.size() - 2])
      return std::nullopt;
    return band_of(graph, value.operands[0]);
  }
  if (value.kind != ValueKind::pointwise) return std::nullopt;
  if (value.fn == "where" && is_zero(graph, value.operands[2]))
    return intersection(band_of_mask(graph, value.operands[0]), band_of(graph, value.operands[1]));
  if (value.fn == "where" && is_zero(graph, value.operands[1])) {
    const auto mask = band_of_mask(graph, value.operands[0]);
    if (mask && mask->low <= -kFar) return Band{mask->high + 1, kFar};
    if (mask && mask->high >= kFar) return Band{-kFar, mask->low - 1};
    return std::nullopt;
  }
  if (value.fn == "mul") return intersection(band_of(graph, value.operands[0]), band_of(graph, value.operands[1]));
  if (value.fn == "cast") {
    const auto mask = band_of_mask(graph, value.operands[0]);
    return mask ? mask : band_of(graph, value.operands[0]);
  }
  if (value.fn == "neg") return band_of(graph, value.operands[0]);
  return std::nullopt;
}

}  // namespace kw
