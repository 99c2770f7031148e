// Sums over rows that a normalisation has centred. Such a row sums to nothing: a sum of its elements as they come would be what the
// rounding of their mean left, as often as the row is long. Here the factors of a normalisation are taken out of the sum, the sums
// of centred elements are few, and what all of them together are off by is taken away.
#include <algorithm>
#include <iterator>
#include <optional>

#include "playbook/read.h"

namespace kw {
namespace {

// A value that is centred * factor + term; factor and term may be absent.
struct CentredForm {
  ValueId centred = -1;
  std::vector<int> dims{};  // over which it was centred
  ValueId factor = -1;
  ValueId term = -1;
};

// The dimensions over which centred_over, or a problem of its own accord, took the mean away; empty: it is no such value.
std::vector<int> centred_along(const Graph& graph, const Value& value) {
  if (value.kind != ValueKind::pointwise || value.fn != "sub") return {};
  const Value& mean = graph.at(behind_views(graph, value.operands[1]));
  if (mean.kind != ValueKind::pointwise || mean.fn != "div") return {};
  const Value& sum = graph.at(behind_views(graph, mean.operands[0]));
  const bool own = sum.kind == ValueKind::reduce && sum.fn == "sum" && sum.operands[0] == value.operands[0];
  return own ? sum.dims : std::vector<int>{};
}

std::optional<CentredForm> centred_form(Graph& graph, ValueId id) {
  const Value& value = graph.at(id);
  if (auto dims = centred_along(graph, value); !dims.empty()) return CentredForm{.centred = id, .dims = std::move(dims)};
  const bool times = value.fn == "mul" || value.fn == "div", plus = value.fn == "add" || value.fn == "sub";
  if (value.kind != ValueKind::pointwise || (!times && !plus)) return std::nullopt;
  auto form = centred_form(graph, value.operands[0]);
  if (!form) return std::nullopt;
  const ValueId other = value.operands[1];
  if (times) {
    form->factor = form->factor >= 0   ? graph.pointwise(value.fn, {form->factor, other}, value.dtype)
                   : value.fn == "mul" ? other
                                       : graph.pointwise("div", {graph.constant(1, value.dtype), other}, value.dtype);
    if (form->term >= 0) form->term = graph.pointwise(value.fn, {form->term, other}, value.dtype);
  } else {
    const ValueId own = value.fn == "add" ? other : graph.pointwise("neg", {other}, value.dtype);
    form->term = form->term < 0 ? own : graph.pointwise("add", {form->term, own}, value.dtype);
  }
  return form;
}

bool varies_along(const Graph& graph, ValueId id, int dim) {
  const Value& value = graph.at(id);
  if (value.shape[static_cast<std::size_t>(dim)] == 1) return false;
  if (value.kind == ValueKind::view)
    return std::ranges::any_of(value.map, [&](const DimMap& map) { return map.out_dim == dim && map.scale != 0; });
  if (value.kind == ValueKind::pointwise)
    return std::ranges::any_of(value.operands, [&](ValueId operand) { return varies_along(graph, operand, dim); });
  return true;
}

ValueId first_along(Graph& graph, ValueId id, const std::vector<int>& dims) {
  for (const int d : dims) id = graph.slice(id, d, 0, 1);
  return id;
}

std::optional<ValueId> sum_of_centred(Graph& graph, ValueId x, const std::vector<int>& dims) {
  auto form = centred_form(graph, x);
  if (!form || !std::ranges::includes(dims, form->dims)) return std::nullopt;
  const DType dtype = graph.dtype(x);
  std::vector<int> even, uneven;  // dimensions of the row along which the factor is one number, and others
  for (const int d : form->dims) (form->factor >= 0 && varies_along(graph, form->factor, d) ? uneven : even).push_back(d);
  if (even.empty()) return std::nullopt;
  ValueId sums = graph.reduce("sum", form->centred, even, true);
  sums = graph.pointwise("sub", {sums, mean_over(graph, sums, uneven, true)}, dtype);
  if (form->factor >= 0) sums = graph.pointwise("mul", {sums, first_along(graph, form->factor, even)}, dtype);
  sums = graph.reduce("sum", sums, dims, true);
  if (form->term < 0) return sums;
  std::vector<int> equal;
  std::int64_t times = 1;
  for (const int d : dims)
    if (!varies_along(graph, form->term, d)) {
      equal.push_back(d);
      times *= graph.shape(x)[static_cast<std::size_t>(d)];
    }
  ValueId terms = graph.reduce("sum", first_along(graph, form->term, equal), dims, true);
  terms = graph.pointwise("mul", {terms, graph.constant(static_cast<double>(times), dtype)}, dtype);
  return graph.pointwise("add", {sums, terms}, dtype);
}

}  // namespace

ValueId sum_over(Graph& graph, ValueId x, std::vector<int> dims, bool keepdim) {
  const Value& value = graph.at(x);
  std::ranges::sort(dims);
  ValueId terms = x;
  std::vector<int> own = dims;
  if (value.kind == ValueKind::reshape) {
    const auto parts = parts_of_merged(graph.shape(value.operands[0]), value.shape);
    own.clear();
    if (!parts.empty()) terms = value.operands[0];
    for (const int d : dims)
      if (!parts.empty()) std::ranges::copy(parts[static_cast<std::size_t>(d)], std::back_inserter(own));
  }
  const auto sum = value.dtype == DType::f32 && numel(value.shape) > 0 ? sum_of_centred(graph, terms, own) : std::nullopt;
  if (!sum) return graph.reduce("sum", x, dims, keepdim);
  Shape shape;
  for (int d = 0; d < static_cast<int>(value.shape.size()); ++d) {
    const bool reduced = std::ranges::find(dims, d) != dims.end();
    if (!reduced || keepdim) shape.push_back(reduced ? 1 : value.shape[static_cast<std::size_t>(d)]);
  }
  return graph.reshape(*sum, shape);
}

}  // namespace kw
