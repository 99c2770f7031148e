#include "playbook/product.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "playbook/narrow_weights.h"

namespace kw {
namespace {

// Stand-ins for the loop variables while positions in memory are worked out.
constexpr VarId kBatchVar = 0;
constexpr VarId kOuterVar = 1;
constexpr VarId kInnerVar = 2;
constexpr VarId kGroupVar = 3;  // of inner positions

struct OperandLeaf {
  std::string pointer;
  DType dtype = DType::f32;
  std::int64_t elements = 0;
  Affine position;
  bool linear = true;  // in the outer and inner variable
};

bool reads_in_lanes(DType dtype) { return dtype == DType::f32 || is_16_bit(dtype) || is_small_integer(dtype); }

class OperandWalk {
 public:
  OperandWalk(const Graph& graph, const Emitter& emitter, std::vector<Range> ranges)
      : graph_(graph), emitter_(emitter), ranges_(std::move(ranges)) {}

  std::vector<OperandLeaf> leaves;
  bool computed = false;
  std::int64_t group = 0;  // of inner positions, in which what is read is linear where the whole is not; 0: there is none

  void visit(ValueId id, const Index& index) {
    const Value& value = graph_.at(id);
    if (const Buffer* buffer = emitter_.buffer_of(id)) {
      add_leaf(buffer->name, buffer->dtype, value.shape, contiguous_strides(value.shape), index);
      return;
    }
    switch (value.kind) {
      case ValueKind::argument:
        add_leaf(value.name, value.dtype, value.shape, value.strides, index);
        return;
      case ValueKind::view: {
        visit(value.operands[0], behind_view(value, index));
        return;
      }
      case ValueKind::reshape:
        visit_reshape(value, index);
        return;
      case ValueKind::pointwise:
        computed = true;
        for (const ValueId operand : value.operands) visit(operand, index);
        return;
      default:
        computed = true;
    }
  }

 private:
  void add_leaf(const std::string& pointer, DType dtype, const Shape& shape, const std::vector<std::int64_t>& strides,
                const Index& index) {
    OperandLeaf leaf{pointer, dtype, numel(shape), {}, linear_};
    for (std::size_t d = 0; d < shape.size(); ++d) leaf.position = leaf.position + index[d] * (shape[d] == 1 ? 0 : strides[d]);
    leaf.position = put_together(leaf.position, apart_);
    // Quotients that a reshape made have gone where the memory is in one piece.
    leaf.linear = leaf.linear || std::ranges::all_of(leaf.position.terms, [](const auto& term) { return term.first <= kInnerVar; });
    leaves.push_back(std::move(leaf));
  }

  void visit_reshape(const Value& value, const Index& index) {
    const Shape& shape = graph_.shape(value.operands[0]);
    const auto own = contiguous_strides(value.shape);
    const auto strides = contiguous_strides(shape);
    Affine rest;
    for (std::size_t d = 0; d < value.shape.size(); ++d) rest = rest + index[d] * (value.shape[d] == 1 ? 0 : own[d]);
    rest = put_together(rest, apart_);
    const bool linear_before = linear_;
    Index inner(shape.size());
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (d + 1 == shape.size()) {
        inner[d] = rest;
        continue;
      }
      if (shape[d] == 1) continue;
      const Division division = divide(rest, strides[d], ranges_);
      const VariableDivision by_one = divide_variable(rest, strides[d], ranges_);
      if (division.exact) {
        inner[d] = division.quotient;
      } else if (by_one.variable >= 0 && by_one.variable != kOuterVar && by_one.variable != kInnerVar) {
        const TakenApart halves = take_apart(by_one.variable, by_one.parts);
        inner[d] = by_one.quotient + Affine::variable(halves.quotient);
        rest = by_one.rest + Affine::variable(halves.remainder) * by_one.step;
        continue;
      } else {
        if (!is_same_quotient(rest, strides[d])) {
          linear_ = false;
          group = std::gcd(group, strides[d]);
        }
        ranges_.push_back({0, shape[d] - 1});
        inner[d] = Affine::variable(static_cast<VarId>(ranges_.size()) - 1);
      }
      rest = rest - inner[d] * strides[d];
    }
    visit(value.operands[0], inner);
    linear_ = linear_before;
  }

  TakenApart take_apart(VarId whole, std::int64_t parts) {
    const auto known =
        std::ranges::find_if(apart_, [&](const TakenApart& halves) { return halves.whole == whole && halves.parts == parts; });
    if (known != apart_.end()) return *known;
    const auto next = static_cast<VarId>(ranges_.size());
    const Range range = ranges_[static_cast<std::size_t>(whole)];
    ranges_.push_back({range.low / parts, range.high / parts});
    ranges_.push_back({0, parts - 1});
    apart_.push_back({whole, next, next + 1, parts});
    return apart_.back();
  }

  // Whether the outer and the inner variable leave value / divisor as it is: with them it stays below the next multiple.
  [[nodiscard]] bool is_same_quotient(const Affine& value, std::int64_t divisor) const {
    std::int64_t step = divisor;
    Affine own;
    for (const auto& [var, coefficient] : value.terms) {
      if (var == kOuterVar || var == kInnerVar)
        own.terms[var] = coefficient;
      else
        step = std::gcd(step, coefficient);
    }
    own.constant = (value.constant % step + step) % step;
    const Range range = range_of(own, ranges_);
    return range.low >= 0 && range.high < step;
  }

  const Graph& graph_;
  const Emitter& emitter_;
  std::vector<Range> ranges_;
  std::vector<TakenApart> apart_;
  bool linear_ = true;
};

using IndexOf = std::function<Index(const Affine& batch, const Affine& inner, const Affine& outer)>;

// The order in which vectors read an operand of which something changes from group to group of inner positions.
PackOrder order_in_groups(const StageWriter& writer, ValueId value, const IndexOf& index, std::vector<Range> ranges,
                          std::int64_t group) {
  const std::int64_t depth = ranges[kInnerVar].high + 1;
  if (group < kMostLanes || group % kMostLanes != 0 || depth % group != 0 || depth == group) return PackOrder::single;
  ranges[kInnerVar].high = group - 1;
  ranges.push_back({0, depth / group - 1});
  OperandWalk walk(writer.graph, writer.emitter, ranges);
  const Affine batch = ranges[kBatchVar].high > 0 ? Affine::variable(kBatchVar) : Affine(0);
  walk.visit(value, index(batch, Affine::variable(kGroupVar) * group + Affine::variable(kInnerVar), Affine::variable(kOuterVar)));
  const bool linear = std::ranges::all_of(walk.leaves, [](const OperandLeaf& leaf) { return leaf.linear; });
  const auto& largest = *std::ranges::max_element(walk.leaves, {}, &OperandLeaf::elements);
  if (!linear || !reads_in_lanes(largest.dtype)) return PackOrder::single;
  return largest.position.coefficient(kInnerVar) == 1 ? PackOrder::turned : PackOrder::single;
}

ProductOperand operand_facts(const StageWriter& writer, ValueId value, const IndexOf& index_of, std::vector<Range> ranges) {
  OperandWalk walk(writer.graph, writer.emitter, ranges);
  const Affine at_batch = ranges[kBatchVar].high > 0 ? Affine::variable(kBatchVar) : Affine(0);
  walk.visit(value, index_of(at_batch, Affine::variable(kInnerVar), Affine::variable(kOuterVar)));
  ProductOperand operand;
  operand.value = value;
  operand.extent = ranges[kOuterVar].high + 1;
  operand.computed = walk.computed;
  operand.from_parameters = writer.plan.from_parameters.contains(value);
  operand.narrow = operand.from_parameters && lies_narrow(writer.graph, value);
  if (walk.leaves.empty()) return operand;
  operand.shared = !walk.computed && std::ranges::all_of(walk.leaves, [](const OperandLeaf& leaf) {
    return std::ranges::all_of(leaf.position.terms,
                               [](const auto& term) { return term.first == kOuterVar || term.first == kInnerVar; });
  });
  const auto& largest = *std::ranges::max_element(walk.leaves, {}, &OperandLeaf::elements);
  const std::int64_t outer = largest.position.coefficient(kOuterVar);
  const std::int64_t inner = largest.position.coefficient(kInnerVar);
  if (largest.linear && reads_in_lanes(largest.dtype)) {
    if (outer == 1 && operand.extent > 1) {
      operand.order = PackOrder::along;
    } else if (inner == 1) {
      operand.order = PackOrder::turned;
    }
  }
  if (walk.group > 0 && operand.order != PackOrder::along) {
    const PackOrder in_groups = order_in_groups(writer, value, index_of, ranges, walk.group);
    if (in_groups != PackOrder::single) operand.order = in_groups, operand.group = walk.group;
  }
  const bool only_loop_variables =
      std::ranges::all_of(largest.position.terms, [](const auto& term) { return term.first <= kInnerVar; });
  if (!walk.computed && walk.leaves.size() == 1 && largest.linear && largest.dtype == DType::f32 && only_loop_variables)
    operand.direct =
        DirectOperand{largest.pointer, largest.position.coefficient(kBatchVar), outer, inner, largest.position.constant};
  return operand;
}

}  // namespace

Index ProductFacts::left_index(const Affine& batch, const Affine& row, const Affine& inner) const {
  return swapped ? Index{batch, inner, row} : Index{batch, row, inner};
}

Index ProductFacts::right_index(const Affine& batch, const Affine& inner, const Affine& column) const {
  return swapped ? Index{batch, column, inner} : Index{batch, inner, column};
}

Index ProductFacts::product_index(const Affine& batch, const Affine& row, const Affine& column) const {
  return swapped ? Index{batch, column, row} : Index{batch, row, column};
}

double ProductFacts::multiplications() const {
  return static_cast<double>(batches) * static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(depth);
}

std::int64_t ProductFacts::group() const {
  return std::lcm(std::max<std::int64_t>(left.group, 1), std::max<std::int64_t>(right.group, 1));
}

Affine open_inner_loops(Emitter& emitter, const ProductOperand& operand, std::int64_t depth, const std::string& first,
                        const std::string& end, const std::string& step, bool vector) {
  const auto loop = [&](const char* hint, std::int64_t extent, const std::string& from, const std::string& to,
                        const std::string& by, bool lanes) {
    const VarId var = emitter.variable(hint, extent, lanes);
    emitter.open(fmt::format("for (std::int64_t {0} = {1}; {0} < {2}; {0} += {3}) {{", emitter.name(var), from, to, by), {var});
    return Affine::variable(var);
  };
  const std::int64_t group = operand.group;
  if (group == 0) return loop("k", depth, first, end, step, vector);
  const Affine outer =
      loop("group", depth / group, fmt::format("({}) / {}", first, group), fmt::format("({}) / {}", end, group), "1", false);
  return outer * group + loop("k", group, "0", fmt::format("{}", group), step, vector);
}

void close_inner_loops(Emitter& emitter, const ProductOperand& operand) {
  emitter.close();
  if (operand.group > 0) emitter.close();
}

ProductFacts product_facts(const StageWriter& writer, const Stage& stage, bool swapped) {
  const Graph& graph = writer.graph;
  const Value& product = graph.at(stage.anchor);
  const Shape& left_shape = graph.shape(product.operands[0]);
  ProductFacts facts;
  facts.product = stage.anchor;
  facts.swapped = swapped;
  facts.batches = product.shape[0];
  facts.rows = product.shape[swapped ? 2 : 1];
  facts.columns = product.shape[swapped ? 1 : 2];
  facts.depth = left_shape[2];
  const auto ranges = [&](std::int64_t outer) {
    return std::vector<Range>{{0, facts.batches - 1}, {0, outer - 1}, {0, facts.depth - 1}};
  };
  const auto of_left = [&](const Affine& batch, const Affine& inner, const Affine& row) {
    return facts.left_index(batch, row, inner);
  };
  const auto of_right = [&](const Affine& batch, const Affine& inner, const Affine& column) {
    return facts.right_index(batch, inner, column);
  };
  facts.left = operand_facts(writer, product.operands[swapped ? 1 : 0], of_left, ranges(facts.rows));
  facts.right = operand_facts(writer, product.operands[swapped ? 0 : 1], of_right, ranges(facts.columns));
  if (!swapped) {
    facts.left_band = band_of(graph, product.operands[0]);
    facts.right_band = band_of(graph, product.operands[1]);
    if (stage.roots.size() == 1) facts.result_band = band_of(graph, stage.roots[0]);
  }
  return facts;
}

std::string LocalNames::say(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '$') {
      result += text[i++];
      continue;
    }
    std::size_t end = ++i;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) ++end;
    const std::string word = text.substr(i, end - i);
    auto& name = names_[word];
    if (name.empty()) name = emitter_.unique(word);
    result += name;
    i = end;
  }
  return result;
}

Index root_index(Emitter& emitter, const Graph& graph, const ProductFacts& facts, const Index& product_index, ValueId root) {
  const Shape& from = graph.shape(facts.product);
  const Shape& to = graph.shape(root);
  if (from == to) return product_index;
  return emitter.unflatten(emitter.flatten(product_index, from), to);
}

}  // namespace kw
