// The graph of values: dimensions that a computation has split are merged again as late as can be.
#include <gtest/gtest.h>

#include "playbook/reach.h"
#include "playbook/value.h"

namespace kw {
namespace {

ValueId tensor(Graph& graph, const std::string& name, const Shape& shape) {
  Value value{.kind = ValueKind::argument, .shape = shape};
  value.strides = contiguous_strides(shape);
  value.name = name;
  return graph.add(std::move(value));
}

TEST(ContiguousStrides, AreNeverZero) {
  EXPECT_EQ(contiguous_strides({2, 3, 5}), (std::vector<std::int64_t>{15, 5, 1}));
  EXPECT_EQ(contiguous_strides({2, 0, 5}), (std::vector<std::int64_t>{5, 5, 1})) << "as PyTorch has them";
}

TEST(Values, SaysWhatEachDimensionIsMadeOf) {
  using Parts = std::vector<std::vector<int>>;
  EXPECT_EQ(parts_of_merged({2, 4, 3, 5}, {2, 12, 5}), (Parts{{0}, {1, 2}, {3}}));
  EXPECT_EQ(parts_of_merged({2, 4, 1, 5}, {8, 5}), (Parts{{0, 1, 2}, {3}}));
  EXPECT_EQ(parts_of_merged({6, 4}, {6, 4, 1}), (Parts{{0}, {1}, {}}));
  EXPECT_TRUE(parts_of_merged({6, 4}, {4, 6}).empty());
  EXPECT_TRUE(parts_of_merged({12}, {3, 4}).empty());
}

TEST(Values, WhatFollowsASplitNormIsSplitAsWell) {
  Graph graph;
  const ValueId x = tensor(graph, "x", {2, 4, 3, 5}), scale = tensor(graph, "scale", {12, 1}),
                other = tensor(graph, "y", {2, 12, 5});
  const ValueId merged = graph.reshape(graph.pointwise("exp", {x}), {2, 12, 5});
  const ValueId scaled = graph.pointwise("mul", {graph.pointwise("add", {merged, other}), scale});
  ASSERT_EQ(graph.at(scaled).kind, ValueKind::reshape);
  EXPECT_EQ(graph.shape(scaled), (Shape{2, 12, 5}));
  const Value& product = graph.at(graph.at(scaled).operands[0]);
  EXPECT_EQ(product.shape, (Shape{2, 4, 3, 5}));
  // The scale is split before it is spread out: no position of it is to be divided.
  const Value& factor = graph.at(product.operands[1]);
  ASSERT_EQ(factor.kind, ValueKind::view);
  EXPECT_EQ(graph.shape(factor.operands[0]), (Shape{4, 3, 1}));
}

TEST(Values, AReductionOverMergedDimensionsIsOneOverTheirParts) {
  Graph graph;
  const ValueId merged = graph.reshape(graph.pointwise("exp", {tensor(graph, "x", {2, 4, 3, 5})}), {2, 12, 5});
  const Value& greatest = graph.at(graph.reduce("max", merged, {1}));
  EXPECT_EQ(greatest.kind, ValueKind::reduce);
  EXPECT_EQ(greatest.dims, (std::vector<int>{1, 2}));
  EXPECT_EQ(greatest.shape, (Shape{2, 5}));
  EXPECT_EQ(graph.shape(graph.reduce("sum", merged, {0, 1}, true)), (Shape{1, 1, 5}));
}

TEST(Values, OnlyDistancesBelowTheOwnMaximumAreNeverPositive) {
  Graph graph;
  const ValueId x = tensor(graph, "x", {6, 6}), y = tensor(graph, "y", {6, 6});
  const auto below = [&](ValueId from, ValueId top) { return is_never_positive(graph, graph.pointwise("sub", {from, top})); };
  EXPECT_TRUE(below(x, graph.reduce("max", x, {1}, true)));
  EXPECT_TRUE(below(x, graph.reduce("max", x, {0}, true)));
  EXPECT_TRUE(below(x, graph.reduce("max", x, {0, 1}, true)));
  EXPECT_TRUE(below(x, graph.reduce("max", x, {0})));
  EXPECT_FALSE(below(x, graph.reduce("max", x, {1}))) << "the maxima of rows, along the columns";
  EXPECT_FALSE(below(y, graph.reduce("max", x, {1}, true)));
  EXPECT_FALSE(below(x, graph.reduce("min", x, {1}, true)));
  EXPECT_FALSE(below(x, graph.pointwise("neg", {graph.reduce("max", x, {1}, true)})));
  EXPECT_FALSE(below(graph.reduce("max", x, {1}, true), x));
  EXPECT_TRUE(is_never_positive(graph, graph.pointwise("neg", {graph.pointwise("abs", {x})})));
  EXPECT_FALSE(is_never_positive(graph, graph.pointwise("neg", {x})));
  EXPECT_FALSE(is_never_positive(graph, x));
}

}  // namespace
}  // namespace kw
