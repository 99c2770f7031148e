// Losses, taken apart. Reductions are PyTorch's numbers: 0 none, 1 mean, 2 sum.
#include "playbook/read.h"

namespace kw {
namespace {

// Arithmetic of one floating type.
struct LossTerms {
  Graph& graph;
  DType dtype;
  [[nodiscard]] ValueId number(double value) const { return graph.constant(value, dtype); }
  [[nodiscard]] ValueId one(const char* fn, ValueId a) const { return graph.pointwise(fn, {a}, dtype); }
  [[nodiscard]] ValueId two(const char* fn, ValueId a, ValueId b) const { return graph.pointwise(fn, {a, b}, dtype); }
  [[nodiscard]] ValueId test(const char* fn, ValueId a, ValueId b) const { return graph.pointwise(fn, {a, b}, DType::boolean); }
  [[nodiscard]] ValueId where(ValueId condition, ValueId a, ValueId b) const {
    return graph.pointwise("where", {condition, a, b}, dtype);
  }
  [[nodiscard]] ValueId total(ValueId x) const {
    return graph.shape(x).empty() ? x : graph.reduce("sum", x, all_dims(graph.shape(x).size()));
  }
  [[nodiscard]] ValueId reduced(ValueId x, std::int64_t how) const {
    if (how == 0 || graph.shape(x).empty()) return x;
    return how == 1 ? mean_over(graph, x, all_dims(graph.shape(x).size()), false) : total(x);
  }
};

LossTerms loss_terms(const NodeReader& node) { return {node.graph, node.dtype()}; }

NodeValues read_mse(const NodeReader& node) {
  const LossTerms t = loss_terms(node);
  return {t.reduced(t.one("square", t.two("sub", node.tensor(0), node.tensor(1))), node.integer(2))};
}

NodeValues read_l1(const NodeReader& node) {
  const LossTerms t = loss_terms(node);
  return {t.reduced(t.one("abs", t.two("sub", node.tensor(0), node.tensor(1))), node.integer(2))};
}

// Quadratic up to delta, linear beyond; smooth_l1 is the same divided by its beta.
NodeValues read_huber(const NodeReader& node) {
  const LossTerms t = loss_terms(node);
  const double delta = node.is_none(3) ? 1 : node.number(3);
  const bool smooth = node.op().starts_with("aten.smooth");
  const ValueId distance = t.one("abs", t.two("sub", node.tensor(0), node.tensor(1)));
  if (smooth && delta == 0) return {t.reduced(distance, node.integer(2))};
  const ValueId near = t.two("mul", t.one("square", distance), t.number(smooth ? 0.5 / delta : 0.5));
  const ValueId beyond = t.two("sub", distance, t.number(0.5 * delta));
  const ValueId far = smooth ? beyond : t.two("mul", beyond, t.number(delta));
  return {t.reduced(t.where(t.test(smooth ? "lt" : "le", distance, t.number(delta)), near, far), node.integer(2))};
}

NodeValues read_kl_div(const NodeReader& node) {
  const LossTerms t = loss_terms(node);
  const ValueId input = node.tensor(0);
  const ValueId target = node.tensor(1);
  const Json* given = node.keyword("log_target");
  if (given != nullptr && given->contains("const") && (*given)["const"] == true)
    return {t.reduced(t.two("mul", t.one("exp", target), t.two("sub", target, input)), node.integer(2))};
  const ValueId entropy = t.where(t.test("eq", target, t.number(0)), t.number(0), t.two("mul", target, t.one("log", target)));
  return {t.reduced(t.two("sub", entropy, t.two("mul", target, input)), node.integer(2))};
}

// (input, target, weight, reduction)
NodeValues read_binary_cross_entropy(const NodeReader& node) {
  const LossTerms t = loss_terms(node);
  const ValueId x = node.tensor(0);
  const ValueId target = node.tensor(1);
  const ValueId on = t.two("maximum", t.one("log", x), t.number(-100));
  const ValueId off = t.two("maximum", t.one("log1p", t.one("neg", x)), t.number(-100));
  ValueId loss = t.two("sub", t.two("mul", t.two("sub", target, t.number(1)), off), t.two("mul", target, on));
  if (!node.is_none(2)) loss = t.two("mul", loss, node.tensor(2));
  return {t.reduced(loss, node.integer(3))};
}

// (input, target, weight, pos_weight, reduction)
NodeValues read_bce_with_logits(const NodeReader& node) {
  const LossTerms t = loss_terms(node);
  const ValueId x = node.tensor(0);
  const ValueId target = node.tensor(1);
  const ValueId remaining = t.two("mul", t.two("sub", t.number(1), target), x);
  ValueId slope = t.one("softplus", t.one("neg", x));
  if (!node.is_none(3)) {
    const ValueId extra = t.two("mul", t.two("sub", node.tensor(3), t.number(1)), target);
    slope = t.two("mul", t.two("add", extra, t.number(1)), slope);
  }
  ValueId loss = t.two("add", remaining, slope);
  if (!node.is_none(2)) loss = t.two("mul", loss, node.tensor(2));
  return {t.reduced(loss, node.integer(4))};
}

ValueId log_softmax_along(const LossTerms& t, ValueId x, int dim) {
  const ValueId shifted = t.two("sub", x, t.graph.reduce("max", x, {dim}, true));
  return t.two("sub", shifted, t.one("log", t.graph.reduce("sum", t.one("exp", shifted), {dim}, true)));
}

// The negative of what the log-probabilities have at the labels, without the ignored ones.
ValueId picked_loss(const LossTerms& t, ValueId log_probabilities, ValueId target, ValueId weight, std::int64_t reduction,
                    std::int64_t ignored, double smoothing) {
  Graph& graph = t.graph;
  const Shape shape = graph.shape(log_probabilities);
  const int dim = shape.size() == 1 ? 0 : 1;
  const auto classes = shape[static_cast<std::size_t>(dim)];
  const ValueId labels = graph.cast(target, DType::i64);
  const ValueId counted = t.test("ne", labels, graph.constant(static_cast<double>(ignored), DType::i64));
  const ValueId safe = graph.pointwise("where", {counted, labels, graph.constant(0, DType::i64)}, DType::i64);
  Shape column = shape;
  column[static_cast<std::size_t>(dim)] = 1;
  const ValueId at_label = graph.reshape(graph.gather(log_probabilities, graph.reshape(safe, column), dim), graph.shape(labels));
  const ValueId zero = t.number(0);
  ValueId loss = t.one("neg", at_label);
  ValueId counts = graph.cast(counted, t.dtype);
  if (weight >= 0) {
    const Shape flat{numel(graph.shape(labels))};
    const ValueId factor = graph.reshape(graph.gather(weight, graph.reshape(safe, flat), 0), graph.shape(labels));
    loss = t.two("mul", loss, factor);
    counts = t.where(counted, factor, zero);
  }
  if (smoothing != 0) {
    ValueId weighted = log_probabilities;
    if (weight >= 0) {
      Shape by_class(shape.size(), 1);
      by_class[static_cast<std::size_t>(dim)] = classes;
      weighted = t.two("mul", log_probabilities, graph.reshape(weight, by_class));
    }
    const ValueId spread = t.one("neg", graph.reduce("sum", weighted, {dim}));
    loss = t.two("add", t.two("mul", loss, t.number(1 - smoothing)),
                 t.two("mul", spread, t.number(smoothing / static_cast<double>(classes))));
  }
  loss = t.where(counted, loss, zero);
  if (reduction == 0) return loss;
  if (reduction == 2) return t.total(loss);
  return t.two("div", t.total(loss), t.total(counts));
}

// (input, target, weight, reduction, ignore_index, label_smoothing)
NodeValues read_cross_entropy(const NodeReader& node) {
  const LossTerms t = loss_terms(node);
  const ValueId x = node.tensor(0);
  const ValueId target = node.tensor(1);
  const Shape shape = t.graph.shape(x);
  const int dim = shape.size() == 1 ? 0 : 1;
  const ValueId log_probabilities = log_softmax_along(t, x, dim);
  const ValueId weight = node.is_none(2) ? -1 : node.tensor(2);
  const double smoothing = node.is_none(5) ? 0 : node.number(5);
  const std::int64_t reduction = node.integer(3);
  if (!is_floating(t.graph.dtype(target)))
    return {picked_loss(t, log_probabilities, target, weight, reduction, node.integer(4), smoothing)};
  if (weight >= 0) throw ReadError{"class weights with probabilities as targets"};
  const auto classes = static_cast<double>(shape[static_cast<std::size_t>(dim)]);
  ValueId goal = target;
  if (smoothing != 0) goal = t.two("add", t.two("mul", target, t.number(1 - smoothing)), t.number(smoothing / classes));
  const ValueId loss = t.one("neg", t.graph.reduce("sum", t.two("mul", log_probabilities, goal), {dim}));
  return {t.reduced(loss, reduction)};
}

// (log-probabilities, target, weight, reduction, ignore_index)
NodeValues read_nll(const NodeReader& node) {
  const LossTerms t = loss_terms(node);
  return {
      picked_loss(t, node.tensor(0), node.tensor(1), node.is_none(2) ? -1 : node.tensor(2), node.integer(3), node.integer(4), 0)};
}

int last_dim(const Graph& graph, ValueId x) { return static_cast<int>(graph.shape(x).size()) - 1; }

// (x1, x2, target, margin, reduction)
NodeValues read_cosine_embedding(const NodeReader& node) {
  const LossTerms t = loss_terms(node);
  Graph& graph = t.graph;
  const ValueId a = node.tensor(0);
  const ValueId b = node.tensor(1);
  const ValueId target = graph.cast(node.tensor(2), t.dtype);
  const auto sum = [&](ValueId x) { return graph.reduce("sum", x, {last_dim(graph, x)}); };
  const ValueId size_a = t.two("add", sum(t.one("square", a)), t.number(1e-12));
  const ValueId size_b = t.two("add", sum(t.one("square", b)), t.number(1e-12));
  const ValueId cosine = t.two("div", sum(t.two("mul", a, b)), t.one("sqrt", t.two("mul", size_a, size_b)));
  const ValueId alike = t.two("sub", t.number(1), cosine);
  const ValueId unlike = t.two("maximum", t.two("sub", cosine, t.number(node.number(3))), t.number(0));
  const ValueId loss =
      t.where(t.test("eq", target, t.number(1)), alike, t.where(t.test("eq", target, t.number(-1)), unlike, t.number(0)));
  return {t.reduced(loss, node.integer(4))};
}

ValueId pairwise_distance(const LossTerms& t, ValueId a, ValueId b, double order, double epsilon) {
  Graph& graph = t.graph;
  const ValueId difference = t.two("add", t.two("sub", a, b), t.number(epsilon));
  const std::vector<int> dims{last_dim(graph, difference)};
  if (order == 2) return t.one("sqrt", graph.reduce("sum", t.one("square", difference), dims));
  if (order == 1) return graph.reduce("sum", t.one("abs", difference), dims);
  throw ReadError{"a distance of another order than 1 or 2"};
}

// (anchor, positive, negative, margin, p, eps, swap, reduction)
NodeValues read_triplet(const NodeReader& node) {
  const LossTerms t = loss_terms(node);
  const auto distance = [&](std::size_t a, std::size_t b) {
    return pairwise_distance(t, node.tensor(a), node.tensor(b), node.number(4), node.number(5));
  };
  ValueId apart = distance(0, 2);
  if (node.boolean(6)) apart = t.two("minimum", apart, distance(1, 2));
  const ValueId loss = t.two("maximum", t.two("sub", t.two("add", t.number(node.number(3)), distance(0, 1)), apart), t.number(0));
  return {t.reduced(loss, node.integer(7))};
}

// (x1, x2, dim, eps)
NodeValues read_cosine_similarity(const NodeReader& node) {
  const LossTerms t = loss_terms(node);
  Graph& graph = t.graph;
  const ValueId a = node.tensor(0);
  const ValueId b = node.tensor(1);
  const int dim = node.dim(2, graph.shape(a).size());
  const auto size = [&](ValueId x) {
    return t.two("maximum", t.one("sqrt", graph.reduce("sum", t.one("square", x), {dim})), t.number(node.number(3)));
  };
  return {t.two("div", graph.reduce("sum", t.two("mul", a, b), {dim}), t.two("mul", size(a), size(b)))};
}

// (input, target, reduction)
NodeValues read_soft_margin(const NodeReader& node) {
  const LossTerms t = loss_terms(node);
  return {t.reduced(t.one("softplus", t.one("neg", t.two("mul", node.tensor(0), node.tensor(1)))), node.integer(2))};
}

// (input1, input2, target, margin, reduction)
NodeValues read_margin_ranking(const NodeReader& node) {
  const LossTerms t = loss_terms(node);
  const ValueId ordered = t.two("mul", t.one("neg", node.tensor(2)), t.two("sub", node.tensor(0), node.tensor(1)));
  return {t.reduced(t.two("maximum", t.two("add", ordered, t.number(node.number(3))), t.number(0)), node.integer(4))};
}

// (input, target, margin, reduction)
NodeValues read_hinge_embedding(const NodeReader& node) {
  const LossTerms t = loss_terms(node);
  const ValueId x = node.tensor(0);
  const ValueId target = node.tensor(1);
  const ValueId beyond = t.two("maximum", t.two("sub", t.number(node.number(2)), x), t.number(0));
  const ValueId loss = t.two("add", t.where(t.test("ne", target, t.number(1)), beyond, t.number(0)),
                             t.where(t.test("ne", target, t.number(-1)), x, t.number(0)));
  return {t.reduced(loss, node.integer(3))};
}

constexpr OpRow kLossOps[] = {
    {"aten.mse_loss.default", read_mse},
    {"aten.l1_loss.default", read_l1},
    {"aten.huber_loss.default", read_huber},
    {"aten.smooth_l1_loss.default", read_huber},
    {"aten.kl_div.default", read_kl_div},
    {"aten.binary_cross_entropy.default", read_binary_cross_entropy},
    {"aten.binary_cross_entropy_with_logits.default", read_bce_with_logits},
    {"aten.cross_entropy_loss.default", read_cross_entropy},
    {"aten.nll_loss_nd.default", read_nll},
    {"aten.nll_loss.default", read_nll},
    {"aten.cosine_embedding_loss.default", read_cosine_embedding},
    {"aten.cosine_similarity.default", read_cosine_similarity},
    {"aten.triplet_margin_loss.default", read_triplet},
    {"aten.soft_margin_loss.default", read_soft_margin},
    {"aten.margin_ranking_loss.default", read_margin_ranking},
    {"aten.hinge_embedding_loss.default", read_hinge_embedding},
};

}  // namespace

std::span<const OpRow> loss_ops() { return kLossOps; }

}  // namespace kw
