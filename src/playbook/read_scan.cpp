// Running sums, products and extremes.
#include <optional>

#include "playbook/read.h"
#include "playbook/stage_scan.h"

namespace kw {
namespace {

// A scan of a flipped value is the flipped scan from the other end: flips before and after it then cancel out.
ValueId running_value(Graph& graph, const std::string& fn, ValueId operand, int dim) {
  const Value& of = graph.at(operand);
  if (of.shape.empty()) return operand;
  bool flipped = false;
  if (of.kind == ValueKind::view)
    for (const auto& map : of.map) flipped = flipped || (map.out_dim == dim && map.scale < 0);
  const ValueId source = flipped ? graph.flip(operand, dim) : operand;
  Value scan{.kind = ValueKind::scan, .dtype = graph.dtype(source), .shape = graph.shape(source), .operands = {source}};
  scan.fn = fn;
  scan.dims = {dim};
  scan.number = flipped ? kScanFromTheEnd : 0;
  const ValueId result = graph.add(std::move(scan));
  return flipped ? graph.flip(result, dim) : result;
}

int scan_dim(const NodeReader& node, ValueId operand) {
  const std::size_t rank = node.graph.shape(operand).size();
  return rank == 0 ? 0 : node.dim(1, rank);
}

NodeValues read_running(const NodeReader& node, const std::string& fn) {
  const ValueId operand = node.graph.cast(node.tensor(0), node.dtype());
  return {running_value(node.graph, fn, operand, scan_dim(node, operand))};
}

// PyTorch keeps the last of equal positions, and NaN counts as the extreme from where it stands on.
NodeValues read_running_extreme(const NodeReader& node, const std::string& fn) {
  Graph& graph = node.graph;
  const ValueId operand = node.tensor(0);
  const int dim = scan_dim(node, operand);
  const ValueId extreme = running_value(graph, fn, operand, dim);
  const Shape shape = graph.shape(operand);
  if (shape.empty()) return {extreme, graph.constant(0, DType::i64)};
  Shape along(shape.size(), 1);
  along[static_cast<std::size_t>(dim)] = shape[static_cast<std::size_t>(dim)];
  const ValueId position = graph.expand(graph.reshape(graph.iota(shape[static_cast<std::size_t>(dim)]), along), shape);
  ValueId renewed = graph.pointwise(fn == "max" ? "ge" : "le", {operand, extreme}, DType::boolean);
  if (is_floating(graph.dtype(operand)))
    renewed = graph.pointwise("or", {renewed, graph.pointwise("isnan", {operand}, DType::boolean)}, DType::boolean);
  const ValueId candidate = graph.pointwise("where", {renewed, position, graph.constant(0, DType::i64)}, DType::i64);
  return {extreme, running_value(graph, "max", candidate, dim)};
}

// The number that a value is everywhere, if it is one.
std::optional<double> number_of(const Graph& graph, ValueId id) {
  id = behind_views(graph, id);
  if (graph.at(id).kind != ValueKind::constant) return std::nullopt;
  return graph.at(id).number;
}

constexpr OpRow kScanOps[] = {
    {"aten.cumsum.default", [](const NodeReader& node) { return read_running(node, "sum"); }},
    {"aten.cumprod.default", [](const NodeReader& node) { return read_running(node, "prod"); }},
    {"aten.cummax.default", [](const NodeReader& node) { return read_running_extreme(node, "max"); }},
    {"aten.cummin.default", [](const NodeReader& node) { return read_running_extreme(node, "min"); }},
};

}  // namespace

ValueId scan_of_before(Graph& graph, ValueId first, ValueId shorter, int dim) {
  const Value& part = graph.at(shorter);
  if (part.kind != ValueKind::view) return -1;
  const Value& scan = graph.at(part.operands[0]);
  if (scan.kind != ValueKind::scan || scan.number != 0 || scan.dims[0] != dim || scan.dtype != graph.dtype(first)) return -1;
  const double start = scan.fn == "sum" ? 0 : 1;
  if ((scan.fn != "sum" && scan.fn != "prod") || number_of(graph, first) != start) return -1;
  Shape shape = part.shape;
  for (int d = 0; d < static_cast<int>(part.map.size()); ++d)
    if (part.map[static_cast<std::size_t>(d)] != DimMap{d, 1, 0}) return -1;
  ++shape[static_cast<std::size_t>(dim)];
  if (shape != scan.shape) return -1;
  Value before = scan;
  before.number = kScanOfBefore;
  return graph.add(std::move(before));
}

std::span<const OpRow> scan_ops() { return kScanOps; }

}  // namespace kw
