// Algebra on graphs: what it makes of linear maps and what follows them, and what it leaves alone.
#include <gtest/gtest.h>

#include "playbook/algebra.h"
#include "playbook/linear_map.h"
#include "playbook/reach.h"

namespace kw {
namespace {

const std::set<std::string> kAll(std::begin(kAlgebra), std::end(kAlgebra));

ValueId tensor(Graph& graph, const std::string& name, const Shape& shape, bool parameter) {
  Value value{.kind = ValueKind::argument, .shape = shape};
  value.strides = contiguous_strides(shape);
  value.name = name;
  value.parameter = parameter;
  return graph.add(std::move(value));
}

// The products and convolutions that an output needs, parameters' own left out.
std::vector<const Value*> maps_of(const Algebra& algebra, ValueId id) {
  std::vector<const Value*> found;
  const Value& value = algebra.graph.at(id);
  if (algebra.prepared.contains(id)) return found;
  if (value.kind == ValueKind::product || value.kind == ValueKind::convolution) found.push_back(&value);
  for (const ValueId operand : value.operands)
    for (const Value* inner : maps_of(algebra, operand)) found.push_back(inner);
  return found;
}

int pointwise_of(const Algebra& algebra, ValueId id) {
  const Value& value = algebra.graph.at(id);
  if (algebra.prepared.contains(id)) return 0;
  int count = value.kind == ValueKind::pointwise ? 1 : 0;
  for (const ValueId operand : value.operands) count += pointwise_of(algebra, operand);
  return count;
}

TEST(Algebra, ASumOverFeaturesIsAProductWithSummedWeights) {
  Graph graph;
  const ValueId x = tensor(graph, "x", {1, 20, 30}, false), w = tensor(graph, "w", {1, 30, 40}, true);
  const ValueId b = tensor(graph, "b", {40}, true);
  const ValueId y = graph.reduce("sum", graph.pointwise("add", {graph.product(x, w), b}), {2});
  const Algebra algebra = with_algebra(graph, {y}, kAll);
  const auto maps = maps_of(algebra, algebra.outputs[0]);
  ASSERT_EQ(maps.size(), 1U);
  EXPECT_EQ(maps[0]->shape, (Shape{1, 20, 1}));
  EXPECT_TRUE(algebra.done.contains("sum_weights_first"));
  EXPECT_EQ(algebra.graph.shape(algebra.outputs[0]), (Shape{1, 20}));
  EXPECT_EQ(algebra.prepared.size(), 2U);  // weights and bias
}

TEST(Algebra, ScalesBehindAMapAreInItsWeights) {
  Graph graph;
  const ValueId x = tensor(graph, "x", {2, 3, 9, 9}, false), w = tensor(graph, "w", {5, 3, 3, 3}, true);
  const ValueId scale = tensor(graph, "s", {5, 1, 1}, true), shift = tensor(graph, "b", {5, 1, 1}, true);
  const std::vector<WindowDim> window{{.size = 3}, {.size = 3}};
  const ValueId map = graph.convolution(x, w, {2, 5, 7, 7}, window, 1);
  const ValueId y = graph.pointwise(
      "tanh", {graph.pointwise("add", {graph.pointwise("mul", {graph.pointwise("add", {map, shift}), scale}), shift})});
  const Algebra algebra = with_algebra(graph, {y}, kAll);
  EXPECT_TRUE(algebra.done.contains("fold_batch_norm"));
  EXPECT_EQ(pointwise_of(algebra, algebra.outputs[0]), 2);  // one addition and tanh
  EXPECT_EQ(maps_of(algebra, algebra.outputs[0]).size(), 1U);
}

TEST(Algebra, AMapThatIsReadInTwoWaysStaysAsItIs) {
  Graph graph;
  const ValueId x = tensor(graph, "x", {1, 20, 30}, false), w = tensor(graph, "w", {1, 30, 40}, true);
  const ValueId map = graph.product(x, w);
  const ValueId half = graph.pointwise("tanh", {graph.pointwise("mul", {map, graph.constant(0.5)})});
  const ValueId y = graph.pointwise("mul", {half, graph.pointwise("exp", {map})});
  const Algebra algebra = with_algebra(graph, {y}, kAll);
  EXPECT_TRUE(algebra.done.empty());
  EXPECT_TRUE(algebra.prepared.empty());
}

TEST(Algebra, APositionRepeatedIsNotTheMapItself) {
  Graph graph;
  const ValueId x = tensor(graph, "x", {1, 20, 30}, false), w = tensor(graph, "w", {1, 30, 40}, true);
  const ValueId map = graph.product(x, w);
  const ValueId first = graph.expand(graph.slice(map, 2, 0, 1), {1, 20, 40});
  EXPECT_EQ(behind_reshapes(graph, first), first);
  const Algebra algebra = with_algebra(graph, {graph.pointwise("sub", {map, first})}, kAll);
  EXPECT_TRUE(algebra.done.empty());
}

TEST(Algebra, FactorsThatChangeAlongRowsOrAreGivenStayBehind) {
  Graph graph;
  const ValueId x = tensor(graph, "x", {1, 20, 30}, false), w = tensor(graph, "w", {1, 30, 40}, true);
  const ValueId rows = tensor(graph, "r", {20, 1}, true), given = tensor(graph, "g", {40}, false);
  const ValueId map = graph.product(x, w);
  for (const ValueId factor : {rows, given}) {
    const Algebra algebra = with_algebra(graph, {graph.pointwise("mul", {map, factor})}, kAll);
    EXPECT_TRUE(algebra.done.empty());
  }
}

TEST(Algebra, TheMeanOfATransposedConvolutionIsAProductOfSums) {
  Graph graph;
  const ValueId x = tensor(graph, "x", {4, 8, 16, 16}, false), w = tensor(graph, "w", {6, 8, 3, 3}, true);
  const WindowDim dim{.size = 3, .before = 1, .up = 2};
  const ValueId y = graph.reduce("sum", graph.convolution(x, w, {4, 6, 32, 32}, {dim, dim}, 1), {2, 3});
  const Algebra algebra = with_algebra(graph, {y}, kAll);
  for (const Value* map : maps_of(algebra, algebra.outputs[0])) EXPECT_EQ(map->kind, ValueKind::product);
  EXPECT_EQ(algebra.graph.shape(algebra.outputs[0]), (Shape{4, 6}));
}

// pool(convolve(x)) by its definition, beside one convolution with the weights' window times the table that the graph has.
TEST(Algebra, PooledWindowsReadTheSameInputs) {
  for (const WindowDim dim : {WindowDim{.size = 3, .before = 1, .up = 2}, WindowDim{.size = 3, .stride = 2, .before = 2},
                              WindowDim{.size = 2, .before = 1, .dilation = 2}, WindowDim{.size = 5, .before = -1, .up = 4}}) {
    const std::int64_t inputs = 24;
    const std::int64_t outputs = ((inputs - 1) * dim.up + 1 + 2 * dim.before - dim.dilation * (dim.size - 1) - 1) / dim.stride + 1;
    const WindowDim pool{.size = 4, .stride = 4};
    const std::int64_t pooled = (outputs - pool.size) / pool.stride + 1;
    Graph graph;
    const ValueId x = tensor(graph, "x", {1, 1, inputs}, false), w = tensor(graph, "w", {1, 1, dim.size}, true);
    const auto map = linear_map(graph, graph.convolution(x, w, {1, 1, outputs}, {dim}, 1), false, true);
    ASSERT_TRUE(map.has_value());
    const auto shorter = pooled_convolution(graph, *map, {pool}, {pooled});
    ASSERT_TRUE(shorter.has_value());
    const Value& made = graph.at(shorter->value);
    ValueId product = shorter->weights;
    while (graph.at(product).kind != ValueKind::product) product = graph.at(product).operands[0];
    const auto& numbers = graph.at(graph.at(product).operands[1]).numbers;
    const std::int64_t taps = made.window[0].size;
    for (std::int64_t q = 0; q < pooled; ++q) {
      std::map<std::pair<std::int64_t, std::int64_t>, double> by_definition, by_pooled;  // tap and input: how often
      for (std::int64_t j = 0; j < pool.size; ++j)
        for (std::int64_t k = 0; k < dim.size; ++k) {
          const std::int64_t place = (q * pool.stride + j) * dim.stride - dim.before + k * dim.dilation;
          if (place >= 0 && place % dim.up == 0 && place / dim.up < inputs) by_definition[{k, place / dim.up}] += 1;
        }
      for (std::int64_t m = 0; m < taps; ++m) {
        const std::int64_t at = q * made.window[0].stride - made.window[0].before + m;
        for (std::int64_t k = 0; k < dim.size; ++k) {
          const double often = numbers[static_cast<std::size_t>(k * taps + m)];
          if (at >= 0 && at < inputs && often != 0) by_pooled[{k, at}] += often;
        }
      }
      EXPECT_EQ(by_pooled, by_definition) << "output " << q;
    }
  }
}

}  // namespace
}  // namespace kw
