#include "playbook/features.h"

#include <algorithm>
#include <set>

#include "playbook/reach.h"

namespace kw {
namespace {

bool is_maths_function(const std::string& fn) {
  static const std::set<std::string> maths{"exp", "exp2", "expm1", "tanh",     "sigmoid", "silu", "mish", "gelu", "gelu_tanh",
                                           "log", "log2", "log1p", "softplus", "pow",     "sin",  "cos",  "erf",  "erfc"};
  return maths.contains(fn);
}

void count_reduction(Features& features, const Graph& graph, const Value& value) {
  const Shape& shape = graph.shape(value.operands[0]);
  std::int64_t terms = 1;
  for (const int d : value.dims) terms *= shape[static_cast<std::size_t>(d)];
  const auto results = static_cast<double>(numel(value.shape));
  const bool inner = value.dims.back() + 1 == static_cast<int>(shape.size());
  features["reductions"] += 1;
  features[inner ? "inner_reductions" : "outer_reductions"] += 1;
  if (value.fn == "sum") features["sums"] += 1;
  if (static_cast<double>(terms) * results <= features["rows"] * features["row_elements"]) return;
  features["rows"] = results;
  features["row_elements"] = static_cast<double>(terms);
  features["columns"] = inner ? 0 : static_cast<double>(shape.back());
}

void count_product(Features& features, const Graph& graph, const Value& value) {
  features["products"] += 1;
  const auto batch = static_cast<double>(value.shape[0]);
  const auto m = static_cast<double>(value.shape[1]);
  const auto n = static_cast<double>(value.shape[2]);
  const auto k = static_cast<double>(graph.shape(value.operands[0])[2]);
  if (batch * m * n * k <= features["batch"] * features["m"] * features["n"] * features["k"]) return;
  features["batch"] = batch;
  features["m"] = m;
  features["n"] = n;
  features["k"] = k;
}

}  // namespace

Features features_of(const ProblemDescription& problem, const Graph& graph, const std::vector<ValueId>& outputs,
                     const MachineFacts& machine) {
  Features features;
  std::set<ValueId> needed;
  std::vector<ValueId> open = outputs;
  while (!open.empty()) {
    const ValueId id = open.back();
    open.pop_back();
    if (!needed.insert(id).second) continue;
    for (const ValueId operand : graph.at(id).operands) open.push_back(operand);
  }
  std::set<ValueId> from_weights;
  features["float32_only"] = 1;
  for (const ValueId id : needed) {
    const Value& value = graph.at(id);
    bool weights = value.kind == ValueKind::argument ? value.parameter : value.kind != ValueKind::scalar;
    for (const ValueId operand : value.operands) weights = weights && from_weights.contains(operand);
    if (weights) from_weights.insert(id);
    if (is_computed(value) && is_floating(value.dtype) && value.dtype != DType::f32) features["float32_only"] = 0;
    switch (value.kind) {
      case ValueKind::pointwise:
        features["pointwise"] += 1;
        if (value.fn == "div") features["divisions"] += 1;
        if (is_maths_function(value.fn)) {
          features["maths"] += 1;
          if (value.fn == "exp") features["exponentials"] += 1;
        }
        if (value.fn == "where" && graph.at(value.operands[0]).kind == ValueKind::pointwise) features["masks"] += 1;
        break;
      case ValueKind::reduce:
        count_reduction(features, graph, value);
        break;
      case ValueKind::product:
        count_product(features, graph, value);
        if (from_weights.contains(value.operands[0]) || from_weights.contains(value.operands[1])) features["weight_products"] += 1;
        break;
      case ValueKind::scan: {
        features["scans"] += 1;
        const auto length = static_cast<double>(value.shape[static_cast<std::size_t>(value.dims[0])]);
        features["scan_length"] = length;
        features["scan_rows"] = static_cast<double>(numel(value.shape)) / length;
        features["scan_inner"] = value.dims[0] + 1 == static_cast<int>(value.shape.size()) ? 1 : 0;
        break;
      }
      case ValueKind::window: {
        features["windows"] += 1;
        double elements = 1;
        double dims = 0;
        for (const auto& dim : value.window) {
          elements *= static_cast<double>(dim.size);
          dims += dim.size > 1 ? 1 : 0;
        }
        features["window_elements"] = std::max(features["window_elements"], elements);
        features["window_dims"] = std::max(features["window_dims"], dims);
        break;
      }
      case ValueKind::arg_reduce:
        features["arguments"] += 1;
        break;
      case ValueKind::gather:
        features["gathers"] += 1;
        break;
      default:
        break;
    }
  }
  for (const auto& spec : problem.outputs) {
    features["output_bytes"] += static_cast<double>(spec.span_bytes());
    features["output_elements"] += static_cast<double>(spec.numel());
  }
  for (const auto& spec : problem.inputs) features["input_bytes"] += static_cast<double>(spec.span_bytes());
  for (const auto& spec : problem.parameters) features["weight_bytes"] += static_cast<double>(spec.span_bytes());
  features["bytes"] = problem.bytes;
  features["flops"] = problem.flops.value_or(0);
  features["outputs"] = static_cast<double>(problem.outputs.size());
  features["operations"] = features["pointwise"] + features["reductions"] + features["products"] + features["scans"] +
                           features["windows"] + features["arguments"] + features["gathers"];
  features["threads"] = machine.threads;
  features["l1_bytes"] = machine.l1_bytes;
  features["l2_bytes"] = machine.l2_bytes;
  features["l3_bytes"] = machine.l3_bytes;
  features["lanes"] = machine.vector_bytes / 4.0;
  return features;
}

}  // namespace kw
