// Activations, taken apart into arithmetic where that is as precise; the others are functions of their own.
#include "playbook/read.h"

namespace kw {
namespace {

// Builds expressions of one type.
struct Terms {
  Graph& graph;
  DType dtype;
  [[nodiscard]] ValueId number(double value) const {
    return graph.constant(value, dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype);
  }
  [[nodiscard]] ValueId one(const char* fn, ValueId a) const { return graph.pointwise(fn, {a}, dtype); }
  [[nodiscard]] ValueId two(const char* fn, ValueId a, ValueId b) const { return graph.pointwise(fn, {a, b}, dtype); }
  [[nodiscard]] ValueId greater(ValueId a, double bound) const { return graph.pointwise("gt", {a, number(bound)}, DType::boolean); }
  [[nodiscard]] ValueId where(ValueId condition, ValueId a, ValueId b) const {
    return graph.pointwise("where", {condition, a, b}, dtype);
  }
  [[nodiscard]] ValueId clamp(ValueId a, double low, double high) const {
    return two("minimum", two("maximum", a, number(low)), number(high));
  }
};

Terms terms_of(const NodeReader& node) { return {node.graph, node.dtype()}; }

template <const char* Fn>
NodeValues read_function(const NodeReader& node) {
  return {terms_of(node).one(Fn, node.tensor(0))};
}

NodeValues read_gelu(const NodeReader& node) {
  const Json* approximate = node.keyword("approximate");
  const bool by_tanh = approximate != nullptr && approximate->contains("const") && (*approximate)["const"] == "tanh";
  return {terms_of(node).one(by_tanh ? "gelu_tanh" : "gelu", node.tensor(0))};
}

NodeValues read_leaky_relu(const NodeReader& node) {
  const Terms t = terms_of(node);
  const ValueId x = node.tensor(0);
  return {t.where(t.greater(x, 0), x, t.two("mul", x, t.number(node.number(1))))};
}

NodeValues read_prelu(const NodeReader& node) {
  const Terms t = terms_of(node);
  const ValueId x = node.tensor(0);
  ValueId slope = node.tensor(1);
  const std::size_t rank = t.graph.shape(x).size();
  if (numel(t.graph.shape(slope)) > 1 && rank > 2) {
    Shape shape(rank, 1);
    shape[1] = numel(t.graph.shape(slope));
    slope = t.graph.reshape(slope, shape);
  }
  return {t.where(t.greater(x, 0), x, t.two("mul", x, slope))};
}

ValueId elu(const Terms& t, ValueId x, double alpha, double scale, double input_scale) {
  const ValueId negative = t.two("mul", t.one("expm1", t.two("mul", x, t.number(input_scale))), t.number(alpha * scale));
  return t.where(t.greater(x, 0), t.two("mul", x, t.number(scale)), negative);
}

NodeValues read_elu(const NodeReader& node) {
  return {elu(terms_of(node), node.tensor(0), node.number(1), node.number(2), node.number(3))};
}
NodeValues read_celu(const NodeReader& node) {
  return {elu(terms_of(node), node.tensor(0), node.number(1), 1, 1 / node.number(1))};
}
NodeValues read_selu(const NodeReader& node) {
  return {elu(terms_of(node), node.tensor(0), 1.6732632423543772, 1.0507009873554805, 1)};
}

NodeValues read_hardsigmoid(const NodeReader& node) {
  const Terms t = terms_of(node);
  return {t.two("div", t.clamp(t.two("add", node.tensor(0), t.number(3)), 0, 6), t.number(6))};
}
NodeValues read_hardswish(const NodeReader& node) {
  const Terms t = terms_of(node);
  const ValueId x = node.tensor(0);
  return {t.two("div", t.two("mul", x, t.clamp(t.two("add", x, t.number(3)), 0, 6)), t.number(6))};
}
NodeValues read_relu6(const NodeReader& node) { return {terms_of(node).clamp(node.tensor(0), 0, 6)}; }

NodeValues read_softplus(const NodeReader& node) {
  const Terms t = terms_of(node);
  const ValueId x = node.tensor(0);
  const double beta = node.number(1);
  const ValueId scaled = t.two("mul", x, t.number(beta));
  return {t.where(t.greater(scaled, node.number(2)), x, t.two("div", t.one("softplus", scaled), t.number(beta)))};
}

NodeValues read_log_sigmoid(const NodeReader& node) {
  const Terms t = terms_of(node);
  return {t.one("neg", t.one("softplus", t.one("neg", node.tensor(0))))};
}

NodeValues read_threshold(const NodeReader& node) {
  const Terms t = terms_of(node);
  return {t.where(t.greater(node.tensor(0), node.number(1)), node.tensor(0), t.number(node.number(2)))};
}

NodeValues read_hardshrink(const NodeReader& node) {
  const Terms t = terms_of(node);
  const ValueId x = node.tensor(0);
  const ValueId small = t.graph.pointwise("le", {t.one("abs", x), t.number(node.number(1))}, DType::boolean);
  return {t.where(small, t.number(0), x)};
}
NodeValues read_softshrink(const NodeReader& node) {
  const Terms t = terms_of(node);
  const double bound = node.number(1);
  return {t.two("sub", node.tensor(0), t.clamp(node.tensor(0), -bound, bound))};
}

NodeValues read_glu(const NodeReader& node) {
  const Terms t = terms_of(node);
  const ValueId x = node.tensor(0);
  const int dim = node.dim(1, t.graph.shape(x).size());
  const std::int64_t half = t.graph.shape(x)[static_cast<std::size_t>(dim)] / 2;
  return {t.two("mul", t.graph.slice(x, dim, 0, half), t.one("sigmoid", t.graph.slice(x, dim, half, half)))};
}

constexpr char kRelu[] = "relu", kTanh[] = "tanh", kSigmoid[] = "sigmoid", kSilu[] = "silu", kMish[] = "mish";

constexpr OpRow kActivationOps[] = {
    {"aten.relu.default", read_function<kRelu>},
    {"aten.tanh.default", read_function<kTanh>},
    {"aten.sigmoid.default", read_function<kSigmoid>},
    {"aten.silu.default", read_function<kSilu>},
    {"aten.mish.default", read_function<kMish>},
    {"aten.gelu.default", read_gelu},
    {"aten.leaky_relu.default", read_leaky_relu},
    {"aten.prelu.default", read_prelu},
    {"aten._prelu_kernel.default", read_prelu},
    {"aten.elu.default", read_elu},
    {"aten.celu.default", read_celu},
    {"aten.selu.default", read_selu},
    {"aten.hardsigmoid.default", read_hardsigmoid},
    {"aten.hardswish.default", read_hardswish},
    {"aten.relu6.default", read_relu6},
    {"aten.softplus.default", read_softplus},
    {"aten.log_sigmoid.default", read_log_sigmoid},
    {"aten.threshold.default", read_threshold},
    {"aten.hardshrink.default", read_hardshrink},
    {"aten.softshrink.default", read_softshrink},
    {"aten.glu.default", read_glu},
};

}  // namespace

std::span<const OpRow> activation_ops() { return kActivationOps; }

}  // namespace kw
