#include "playbook/features.h"

#include <algorithm>
#include <set>

#include "playbook/attention.h"
#include "playbook/band.h"
#include "playbook/reach.h"

namespace kw {
namespace {

void count_reduction(Features& features, const Graph& graph, const Value& value) {
  const Shape& shape = graph.shape(value.operands[0]);
  double terms = 1;
  for (const int d : value.dims) terms *= static_cast<double>(shape[static_cast<std::size_t>(d)]);
  const auto results = static_cast<double>(numel(value.shape));
  features["reductions"] += 1;
  const bool whole = results == 1;
  const bool inner = value.dims.back() + 1 == static_cast<int>(shape.size());
  // Of each kind the largest counts.
  const char* kind = whole ? "has_whole" : inner ? "has_rows" : "has_columns";
  const char* count = whole ? "" : inner ? "row_count" : "column_count";
  const char* length = whole ? "whole_elements" : inner ? "row_elements" : "column_depth";
  const double known = whole ? features[length] : features[count] * features[length];
  features[kind] = 1;
  if (terms * results <= known) return;
  features[length] = terms;
  if (!whole) features[count] = results;
}

double pointwise_above(const Graph& graph, ValueId value) {
  double count = 0;
  for (;;) {
    const Value& at = graph.at(value);
    if (at.kind == ValueKind::pointwise) count += 1;
    if (at.operands.empty() || (at.kind != ValueKind::pointwise && at.kind != ValueKind::view && at.kind != ValueKind::reshape))
      break;
    value = at.operands[0];
  }
  return count;
}

bool lies_on_the_diagonal(const Band& band) { return band.low == 0 && band.high == 0; }

void count_product(Features& features, const Graph& graph, const Value& value) {
  const auto batch = static_cast<double>(value.shape[0]);
  const auto m = static_cast<double>(value.shape[1]);
  const auto n = static_cast<double>(value.shape[2]);
  const auto k = static_cast<double>(graph.shape(value.operands[0])[2]);
  const bool vector = m == 1 || n == 1;
  features["has_product"] = 1;
  if (vector) features["has_matvec"] = 1;
  features["product_prologue_ops"] += pointwise_above(graph, value.operands[0]) + pointwise_above(graph, value.operands[1]);
  for (const ValueId operand : value.operands)
    if (const auto band = band_of(graph, operand)) {
      const Shape& shape = graph.shape(operand);
      const bool cuts = band->high < shape[2] - 1 || band->low > 1 - shape[1];
      if (lies_on_the_diagonal(*band))
        features["is_diagonal"] = 1;
      else if (cuts)
        features["is_triangular"] = 1;
    }
  if (batch * m * n * k <= features["product_batch"] * features["product_m"] * features["product_n"] * features["product_k"])
    return;
  features["product_batch"] = batch;
  features["product_m"] = m;
  features["product_n"] = n;
  features["product_k"] = k;
  features["is_matvec"] = vector ? 1 : 0;
}

// Of several convolutions the one with the most multiplications counts.
void count_convolution(Features& features, const Graph& graph, const Value& value) {
  const Shape& weights = graph.shape(value.operands[1]);
  double taps = 1, stride = 1, up = 1, pixels = 1;
  for (std::size_t d = 0; d < value.window.size(); ++d) {
    taps *= static_cast<double>(value.window[d].size);
    stride = std::max(stride, static_cast<double>(value.window[d].stride));
    up = std::max(up, static_cast<double>(value.window[d].up));
    pixels *= static_cast<double>(value.shape[d + 2]);
  }
  features["has_convolution"] = 1;
  const auto small = [](const WindowDim& dim) { return dim.size == 3 && dim.stride == 1 && dim.up == 1 && dim.dilation == 1; };
  if (value.window.size() > 1 && std::all_of(value.window.end() - 2, value.window.end(), small) && weights[1] >= 8)
    features["has_3x3_convolution"] = 1;
  features["convolution_prologue_ops"] += pointwise_above(graph, value.operands[0]);
  const double work = static_cast<double>(numel(value.shape)) * static_cast<double>(weights[1]) * taps;
  if (work <= features["convolution_products"]) return;
  features["convolution_products"] = work;
  features["convolution_inputs"] = static_cast<double>(weights[1]);
  const std::int64_t of_a_group = value.shape[1] / value.groups;
  features["convolution_features"] = static_cast<double>(of_a_group);
  features["convolution_taps"] = taps;
  features["convolution_pixels"] = pixels;
  features["convolution_stride"] = stride;
  features["is_transposed_convolution"] = up > 1 ? 1 : 0;
  features["is_depthwise"] = weights[1] == 1 && value.groups > 1 ? 1 : 0;
}

void note_attention(Features& features, const Graph& graph, ValueId product, const std::set<ValueId>& needed) {
  const auto attention = attention_at(graph, product, [&](ValueId id) { return needed.contains(id); });
  if (!attention) return;
  features["has_attention"] = 1;
  if (attention->seen) features["is_triangular"] = 1;
}

// Pointwise values that read a product or convolution, at any distance, and results that are cut to a triangle.
void count_epilogues(Features& features, const Graph& graph, const std::set<ValueId>& needed) {
  std::set<ValueId> after;
  for (const ValueId id : needed) {
    const Value& value = graph.at(id);
    bool reads = is_contraction(value);
    for (const ValueId operand : value.operands) reads = reads || after.contains(operand);
    if (!reads || value.kind == ValueKind::reduce) continue;
    after.insert(id);
    if (value.kind != ValueKind::pointwise) continue;
    features["product_epilogue_ops"] += 1;
    if (value.shape.size() >= 2 && band_of(graph, id)) features["is_triangular"] = 1;
  }
}

// A maximum and a sum of exponentials; a mean and a sum of squared differences of it.
void note_patterns(Features& features, const Graph& graph, const std::set<ValueId>& needed) {
  bool maximum = false, exponential = false;
  int sums = 0;
  for (const ValueId id : needed) {
    const Value& value = graph.at(id);
    maximum = maximum || (value.kind == ValueKind::reduce && value.fn == "max");
    exponential = exponential || (value.kind == ValueKind::pointwise && value.fn == "exp");
    if (value.kind == ValueKind::reduce && value.fn == "sum") ++sums;
  }
  if (maximum && exponential && sums > 0) features["has_softmax"] = 1;
  if (sums >= 2 && !exponential) features["has_moments"] = 1;
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
  const auto users = users_of(graph);
  for (const ValueId id : needed) {
    const Value& value = graph.at(id);
    bool weights = value.kind == ValueKind::argument ? value.parameter : value.kind != ValueKind::scalar;
    for (const ValueId operand : value.operands) weights = weights && from_weights.contains(operand);
    if (weights) from_weights.insert(id);
    switch (value.kind) {
      case ValueKind::pointwise:
        features["pointwise_ops"] += 1;
        if (is_maths_function(value.fn)) features["transcendental_ops"] += 1;
        if (counts_where_negative(graph, users, id)) features["one_sided_ops"] += 1;
        break;
      case ValueKind::reduce:
        count_reduction(features, graph, value);
        break;
      case ValueKind::product:
        count_product(features, graph, value);
        note_attention(features, graph, id, needed);
        if (from_weights.contains(value.operands[0]) || from_weights.contains(value.operands[1]))
          features["weights_in_product"] = 1;
        break;
      case ValueKind::convolution:
        count_convolution(features, graph, value);
        if (from_weights.contains(value.operands[1])) features["weights_in_convolution"] = 1;
        break;
      case ValueKind::scan: {
        features["has_scan"] = 1;
        const auto length = static_cast<double>(value.shape[static_cast<std::size_t>(value.dims[0])]);
        features["scan_length"] = length;
        features["scan_rows"] = static_cast<double>(numel(value.shape)) / length;
        break;
      }
      case ValueKind::window: {
        features["has_window"] = 1;
        double elements = 1;
        for (const auto& dim : value.window) elements *= static_cast<double>(dim.size);
        features["window_elements"] = std::max(features["window_elements"], elements);
        break;
      }
      case ValueKind::arg_reduce:
        features["has_arg"] = 1;
        break;
      case ValueKind::gather:
        features["has_gather"] = 1;
        break;
      default:
        break;
    }
  }
  count_epilogues(features, graph, needed);
  note_patterns(features, graph, needed);
  for (const auto& spec : problem.outputs) features["output_bytes"] += static_cast<double>(spec.span_bytes());
  for (const auto* specs : {&problem.inputs, &problem.parameters})
    for (const auto& spec : *specs) features["input_bytes"] += static_cast<double>(spec.span_bytes());
  features["total_bytes"] = features["input_bytes"] + features["output_bytes"];
  features["flops"] = problem.flops.value_or(0);
  features["uneven_work"] = features["is_triangular"];
  features["stages"] = features["pointwise_ops"] + features["reductions"] + features["has_product"] + features["has_convolution"] +
                       features["has_scan"] + features["has_window"] + features["has_arg"];
  features["threads"] = machine.threads;
  features["l1_bytes"] = machine.l1_bytes;
  features["l2_bytes"] = machine.l2_bytes;
  features["l3_bytes"] = machine.l3_bytes;
  features["vector_lanes"] = machine.vector_bytes / 4.0;
  return features;
}

Features gpu_features_of(const ProblemDescription& problem, const Graph& graph, const std::vector<ValueId>& outputs,
                         const GpuFacts& gpu) {
  Features features = features_of(problem, graph, outputs, {});
  for (const char* cpu : {"threads", "l1_bytes", "l2_bytes", "l3_bytes", "vector_lanes"}) features.erase(cpu);
  features["sms"] = gpu.sms;
  features["compute_capability"] = gpu.compute_capability;
  features["shared_bytes"] = gpu.shared_bytes_per_block;
  features["is_half"] = 0;
  features["is_float"] = 0;
  features["allows_tf32"] = gpu.precision == "tf32" || gpu.precision == "bf16" || gpu.precision == "fp16" ? 1 : 0;
  for (const auto& spec : problem.outputs) {
    features["output_elements"] = std::max(features["output_elements"], static_cast<double>(spec.numel()));
    if (spec.dtype == DType::f16 || spec.dtype == DType::bf16) features["is_half"] = 1;
    if (spec.dtype == DType::f32) features["is_float"] = 1;
  }
  return features;
}

}  // namespace kw
