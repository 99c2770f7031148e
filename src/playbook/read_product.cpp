// Matrix products of every rank, einsum and attention, as products of three dimensions with views around them.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "playbook/read.h"

namespace kw {
namespace {

Shape leading_dims(const Shape& shape, std::size_t kept_back) {
  return {shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(kept_back)};
}

ValueId last_two_swapped(Graph& graph, ValueId value) {
  std::vector<int> order(graph.shape(value).size());
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = static_cast<int>(d);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return graph.permute(value, order);
}

Shape common_batch(const Shape& a, const Shape& b) {
  Shape shape(std::max(a.size(), b.size()), 1);
  for (const Shape* own : {&a, &b})
    for (std::size_t d = 0; d < own->size(); ++d)
      if ((*own)[d] != 1) shape[shape.size() - own->size() + d] = (*own)[d];
  return shape;
}

// torch.matmul's rules for every rank.
ValueId matmul_values(Graph& graph, ValueId a, ValueId b) {
  const bool row = graph.shape(a).size() == 1;
  const bool column = graph.shape(b).size() == 1;
  if (row) a = graph.unsqueeze(a, 0);
  if (column) b = graph.unsqueeze(b, 1);
  const Shape left = graph.shape(a);
  const Shape right = graph.shape(b);
  const std::int64_t rows = left[left.size() - 2];
  const std::int64_t depth = left.back();
  const std::int64_t columns = right.back();
  Shape batch = common_batch(leading_dims(left, 2), leading_dims(right, 2));
  ValueId result = -1;
  if (numel(leading_dims(right, 2)) == 1) {  // one matrix for all rows of the left: its leading dimensions are rows too
    batch = leading_dims(left, 2);
    const ValueId flat = graph.reshape(a, {1, numel(batch) * rows, depth});
    result = graph.product(flat, graph.reshape(b, {1, depth, columns}));
  } else {
    const auto batched = [&](ValueId value, std::int64_t height, std::int64_t width) {
      Shape shape = batch;
      shape.push_back(height);
      shape.push_back(width);
      const std::int64_t own = numel(leading_dims(graph.shape(value), 2));
      if (own == 1) return graph.expand(graph.reshape(value, {1, height, width}), {numel(batch), height, width});
      return graph.reshape(graph.expand(value, shape), {numel(batch), height, width});
    };
    result = graph.product(batched(a, rows, depth), batched(b, depth, columns));
  }
  Shape shape = batch;
  if (!row) shape.push_back(rows);
  if (!column) shape.push_back(columns);
  return graph.reshape(result, std::move(shape));
}

ValueId scaled(Graph& graph, ValueId value, double factor) {
  return factor == 1 ? value : graph.pointwise("mul", {value, graph.constant(factor, graph.dtype(value))});
}

double keyword_number(const NodeReader& node, const std::string& name, double standard) {
  const Json* found = node.keyword(name);
  if (found == nullptr || found->is_null()) return standard;
  if (!found->contains("const") || (*found)["const"].is_null()) {
    if (found->contains("const")) return standard;
    throw ReadError{fmt::format("{} is not a plain number", name)};
  }
  const Json& value = (*found)["const"];
  return value.is_boolean() ? (value.get<bool>() ? 1 : 0) : value.get<double>();
}

NodeValues read_matmul(const NodeReader& node) { return {matmul_values(node.graph, node.tensor(0), node.tensor(1))}; }

NodeValues read_linear(const NodeReader& node) {
  Graph& graph = node.graph;
  ValueId weight = node.tensor(1);
  if (graph.shape(weight).size() == 2) weight = last_two_swapped(graph, weight);
  const ValueId result = matmul_values(graph, node.tensor(0), weight);
  return {node.is_none(2) ? result : graph.pointwise("add", {result, node.tensor(2)})};
}

// beta * self + alpha * (a @ b)
NodeValues read_added(const NodeReader& node) {
  Graph& graph = node.graph;
  const double beta = keyword_number(node, "beta", 1);
  const ValueId result = scaled(graph, matmul_values(graph, node.tensor(1), node.tensor(2)), keyword_number(node, "alpha", 1));
  if (beta == 0) return {result};
  return {graph.pointwise("add", {scaled(graph, node.tensor(0), beta), result})};
}

NodeValues read_outer(const NodeReader& node) {
  Graph& graph = node.graph;
  return {graph.pointwise("mul", {graph.unsqueeze(node.tensor(0), 1), graph.unsqueeze(node.tensor(1), 0)})};
}

ValueId permuted_to(Graph& graph, ValueId value, const std::string& have, const std::string& want) {
  std::vector<int> order;
  for (const char label : want) order.push_back(static_cast<int>(have.find(label)));
  return graph.permute(value, order);
}

// Letters of one operand that nobody else has are summed first.
ValueId summed_alone(Graph& graph, ValueId value, std::string& labels, const std::string& others) {
  std::vector<int> dims;
  std::string kept;
  for (std::size_t d = 0; d < labels.size(); ++d) {
    if (others.find(labels[d]) == std::string::npos) {
      dims.push_back(static_cast<int>(d));
    } else {
      kept += labels[d];
    }
  }
  labels = kept;
  return dims.empty() ? value : graph.reduce("sum", value, dims);
}

ValueId contract_pair(Graph& graph, ValueId a, std::string left, ValueId b, std::string right, const std::string& out) {
  a = summed_alone(graph, a, left, right + out);
  b = summed_alone(graph, b, right, left + out);
  std::string batch;
  std::string inner;
  std::string rows;
  std::string columns;
  std::map<char, std::int64_t> size;
  for (std::size_t d = 0; d < left.size(); ++d) {
    size[left[d]] = graph.shape(a)[d];
    const bool shared = right.find(left[d]) != std::string::npos;
    (!shared ? rows : out.find(left[d]) != std::string::npos ? batch : inner) += left[d];
  }
  for (std::size_t d = 0; d < right.size(); ++d) {
    size[right[d]] = graph.shape(b)[d];
    if (left.find(right[d]) == std::string::npos) columns += right[d];
  }
  const auto sizes = [&](const std::string& labels) {
    Shape shape;
    for (const char label : labels) shape.push_back(size[label]);
    return shape;
  };
  const std::string have = batch + rows + columns;
  ValueId result = -1;
  if (inner.empty()) {
    const auto spread = [&](ValueId value, const std::string& own, const std::string& order) {
      Shape shape;
      for (const char label : have) shape.push_back(own.find(label) == std::string::npos ? 1 : size[label]);
      return graph.reshape(permuted_to(graph, value, own, order), std::move(shape));
    };
    result = graph.pointwise("mul", {spread(a, left, batch + rows), spread(b, right, batch + columns)});
  } else {
    const std::int64_t count = numel(sizes(batch));
    const std::int64_t depth = numel(sizes(inner));
    const ValueId first = graph.reshape(permuted_to(graph, a, left, batch + rows + inner), {count, numel(sizes(rows)), depth});
    const ValueId second =
        graph.reshape(permuted_to(graph, b, right, batch + inner + columns), {count, depth, numel(sizes(columns))});
    result = graph.reshape(graph.product(first, second), sizes(have));
  }
  return permuted_to(graph, result, have, out);
}

// Letters for the dimensions that "..." stands for, of which the operand with most of them has `count`: digits, which no equation
// has.
std::string with_letters(std::string own, std::size_t count, std::size_t rank) {
  const auto dots = own.find("...");
  if (dots == std::string::npos) return own;
  const std::size_t named = own.size() - 3;
  if (rank < named || rank - named > count) throw ReadError{"einsum's equation does not fit its operands"};
  std::string letters;
  for (std::size_t i = count - (rank - named); i < count; ++i) letters += static_cast<char>('0' + i);
  return own.replace(dots, 3, letters);
}

NodeValues read_einsum(const NodeReader& node) {
  std::string equation = node.string(0);
  std::erase(equation, ' ');
  const auto arrow = equation.find("->");
  const std::string inputs = equation.substr(0, arrow);
  std::vector<std::string> labels{""};
  for (const char c : inputs) {
    if (c == ',') {
      labels.emplace_back();
    } else {
      labels.back() += c;
    }
  }
  const auto tensors = node.tensors(1);
  if (tensors.size() != labels.size()) throw ReadError{"einsum's equation does not fit its operands"};
  Graph& graph = node.graph;
  std::size_t unnamed = 0;
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (const std::size_t rank = graph.shape(tensors[i]).size();
        labels[i].find("...") != std::string::npos && rank + 3 > labels[i].size())
      unnamed = std::max(unnamed, rank + 3 - labels[i].size());
  if (unnamed > 10) throw ReadError{"more than ten dimensions behind an ellipsis in einsum"};
  std::map<char, std::int64_t> sizes;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const Shape& shape = graph.shape(tensors[i]);
    labels[i] = with_letters(labels[i], unnamed, shape.size());
    for (std::size_t d = 0; d < std::min(shape.size(), labels[i].size()); ++d)
      if (sizes.emplace(labels[i][d], shape[d]).first->second != shape[d]) throw ReadError{"einsum that broadcasts a dimension"};
  }
  std::string out;
  if (arrow != std::string::npos) {
    out = equation.substr(arrow + 2);
    out = with_letters(out, unnamed, out.find("...") == std::string::npos ? out.size() : out.size() - 3 + unnamed);
  } else {
    for (std::size_t i = 0; i < unnamed; ++i) out += static_cast<char>('0' + i);
    std::map<char, int> seen;
    for (const auto& own : labels)
      for (const char c : own) ++seen[c];
    for (const auto& [c, count] : seen)
      if (count == 1 && out.find(c) == std::string::npos) out += c;
  }
  for (const auto& own : labels)
    for (const char c : own)
      if (std::ranges::count(own, c) > 1) throw ReadError{"a letter twice in one operand of einsum"};
  ValueId value = tensors[0];
  std::string have = labels[0];
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    std::string later = out;
    for (std::size_t j = i + 1; j < tensors.size(); ++j) later += labels[j];
    std::string kept;
    for (const char c : have + labels[i])
      if (later.find(c) != std::string::npos && kept.find(c) == std::string::npos) kept += c;
    const std::string want = i + 1 == tensors.size() ? out : kept;
    value = contract_pair(graph, value, have, tensors[i], labels[i], want);
    have = want;
  }
  value = summed_alone(graph, value, have, out);
  return {permuted_to(graph, value, have, out)};
}

// Keys or values of fewer heads than the queries have: each serves as many heads in a row.
ValueId shared_by_heads(Graph& graph, ValueId value, const Shape& query) {
  const Shape own = graph.shape(value);
  const std::size_t head = own.size() - 3;
  if (own[head] == 0 || query[query.size() - 3] % own[head] != 0) throw ReadError{"heads that cannot be shared out evenly"};
  Shape apart = own;
  apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(head) + 1, query[query.size() - 3] / own[head]);
  Shape whole = own;
  whole[head] = query[query.size() - 3];
  return graph.reshape(graph.expand(graph.unsqueeze(value, static_cast<int>(head) + 1), apart), whole);
}

// scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, *, scale, enable_gqa)
NodeValues read_attention(const NodeReader& node) {
  Graph& graph = node.graph;
  const ValueId query = node.tensor(0);
  const Shape& shape = graph.shape(query);
  if (node.count() > 4 && !node.is_none(4) && node.number(4) != 0) throw ReadError{"dropout in attention"};
  const bool grouped = keyword_number(node, "enable_gqa", 0) != 0;
  const ValueId key = grouped ? shared_by_heads(graph, node.tensor(1), shape) : node.tensor(1);
  const ValueId value = grouped ? shared_by_heads(graph, node.tensor(2), shape) : node.tensor(2);
  const double scale = keyword_number(node, "scale", 1 / std::sqrt(static_cast<double>(shape.back())));
  ValueId scores = scaled(graph, matmul_values(graph, query, last_two_swapped(graph, key)), scale);
  const Shape full = graph.shape(scores);
  const ValueId lowest = graph.constant(-std::numeric_limits<double>::infinity(), graph.dtype(scores));
  if (node.count() > 5 && node.boolean(5)) {
    const std::int64_t rows = full[full.size() - 2];
    const ValueId row = graph.reshape(graph.iota(rows), {rows, 1});
    const ValueId seen = graph.pointwise("le", {graph.iota(full.back()), row}, DType::boolean);
    scores = graph.pointwise("where", {seen, scores, lowest}, graph.dtype(scores));
  }
  if (!node.is_none(3)) {
    const ValueId mask = node.tensor(3);
    scores = graph.dtype(mask) == DType::boolean ? graph.pointwise("where", {mask, scores, lowest}, graph.dtype(scores))
                                                 : graph.pointwise("add", {scores, graph.cast(mask, graph.dtype(scores))});
  }
  const int last = static_cast<int>(full.size()) - 1;
  const ValueId greatest = graph.reduce("max", scores, {last}, true);
  const ValueId raised = graph.pointwise("exp", {graph.pointwise("sub", {scores, greatest})});
  ValueId weights = graph.pointwise("div", {raised, graph.reduce("sum", raised, {last}, true)});
  if (!node.is_none(3)) {  // a row that sees nothing attends to nothing
    const ValueId unseen = graph.pointwise("eq", {greatest, lowest}, DType::boolean);
    weights = graph.pointwise("where", {unseen, graph.constant(0, graph.dtype(weights)), weights}, graph.dtype(weights));
  }
  return {matmul_values(graph, weights, value)};
}

constexpr std::array<OpRow, 13> kProductOps = {{
    {"aten.mm.default", read_matmul},
    {"aten.bmm.default", read_matmul},
    {"aten.matmul.default", read_matmul},
    {"aten.mv.default", read_matmul},
    {"aten.dot.default", read_matmul},
    {"aten.linear.default", read_linear},
    {"aten.addmm.default", read_added},
    {"aten.addmv.default", read_added},
    {"aten.baddbmm.default", read_added},
    {"aten.outer.default", read_outer},
    {"aten.ger.default", read_outer},
    {"aten.einsum.default", read_einsum},
    {"aten.scaled_dot_product_attention.default", read_attention},
}};

}  // namespace

std::span<const OpRow> product_ops() { return kProductOps; }

}  // namespace kw
