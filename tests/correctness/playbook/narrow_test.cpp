// Numbers of few bytes: 16 bits are computed as float32, quantised weights are read as they lie in memory.
#include <algorithm>

#include <gtest/gtest.h>

#include "playbook/halves.h"
#include "playbook/narrow_weights.h"
#include "playbook/playbook.h"
#include "support/small_problems.h"

namespace kw {
namespace {

using testing::problem_of;
using testing::tensor;

ValueId argument(Graph& graph, const std::string& name, Shape shape, DType dtype, bool parameter = false) {
  Value value{.kind = ValueKind::argument, .dtype = dtype, .shape = shape};
  value.strides = contiguous_strides(shape);
  value.name = name;
  value.parameter = parameter;
  return graph.add(value);
}

int count_of(const Graph& graph, DType dtype, ValueKind kind) {
  int count = 0;
  for (ValueId id = 0; id < graph.size(); ++id) count += graph.at(id).dtype == dtype && graph.at(id).kind == kind ? 1 : 0;
  return count;
}

TEST(Halves, AChainIsComputedInFloatAndRoundedOnce) {
  Graph graph;
  const ValueId x = argument(graph, "x", {4, 8}, DType::f16);
  const ValueId raised = graph.pointwise("exp", {graph.pointwise("mul", {x, x})});
  const ValueId sum = graph.reduce("sum", raised, {1});
  const WidenedGraph wide = widened(graph, {sum});
  const Value& root = wide.graph.at(wide.outputs[0]);
  EXPECT_EQ(root.dtype, DType::f16);
  EXPECT_EQ(root.fn, "cast");
  EXPECT_EQ(wide.graph.at(root.operands[0]).kind, ValueKind::reduce);
  EXPECT_EQ(wide.graph.at(root.operands[0]).dtype, DType::f32);
  EXPECT_EQ(count_of(wide.graph, DType::f16, ValueKind::pointwise), 1) << "the store rounds, and nothing else";
}

TEST(Halves, WhatOnlyMovesKeepsItsBits) {
  Graph graph;
  const ValueId x = argument(graph, "x", {4, 8}, DType::bf16);
  const WidenedGraph wide = widened(graph, {graph.permute(x, {1, 0})});
  EXPECT_EQ(wide.graph.at(wide.outputs[0]).kind, ValueKind::view);
  EXPECT_EQ(wide.graph.dtype(wide.outputs[0]), DType::bf16);
}

TEST(Halves, ARoundingThatForwardAsksForStays) {
  Graph graph;
  const ValueId x = argument(graph, "x", {8}, DType::f32);
  const ValueId rounded = graph.cast(graph.pointwise("exp", {x}), DType::f16);
  const WidenedGraph wide = widened(graph, {graph.cast(rounded, DType::f32)});
  const ValueId inner = behind_widening(wide.graph, wide.outputs[0]);
  ASSERT_NE(inner, wide.outputs[0]);
  EXPECT_EQ(wide.graph.dtype(inner), DType::f16);
}

TEST(Halves, ProductsKnowWhatTensorCoresMayTake) {
  Graph graph;
  const ValueId x = argument(graph, "x", {1, 4, 8}, DType::f16);
  const ValueId y = argument(graph, "y", {1, 8, 4}, DType::f16);
  const ValueId both = graph.product(graph.pointwise("exp", {x}), y);
  const WidenedGraph wide = widened(graph, {both});
  const ValueId product = wide.graph.at(wide.outputs[0]).operands[0];
  EXPECT_EQ(wide.graph.dtype(product), DType::f32);
  EXPECT_EQ(factor_type(wide.graph, product), DType::f16);
  EXPECT_EQ(wide.graph.dtype(behind_widening(wide.graph, wide.graph.at(product).operands[1])), DType::f16);
}

TEST(NarrowWeights, BytesCountWithTheirScales) {
  Graph graph;
  const ValueId w = argument(graph, "w", {64, 128}, DType::i8, true);
  const ValueId scale = argument(graph, "scale", {64, 1}, DType::f32, true);
  const ValueId full = argument(graph, "full", {64, 128}, DType::f32, true);
  const ValueId floats = graph.cast(w, DType::f32);
  EXPECT_TRUE(lies_narrow(graph, graph.pointwise("mul", {floats, scale})));
  EXPECT_FALSE(lies_narrow(graph, graph.pointwise("mul", {floats, full}))) << "as many floats are read anyway";
  EXPECT_FALSE(lies_narrow(graph, full));
  EXPECT_TRUE(lies_narrow(graph, graph.cast(argument(graph, "h", {8, 8}, DType::bf16, true), DType::f32)));
}

// x @ (float(w) * scale).T, w of [N, K] and of a type.
ProblemDescription quantised(std::int64_t rows, DType dtype) {
  ProblemDescription problem =
      problem_of({tensor("x", TensorKind::input, {rows, 512})},
                 {tensor("w", TensorKind::buffer, {384, 512}, dtype), tensor("scale", TensorKind::buffer, {384, 1})},
                 {tensor("out", TensorKind::output, {rows, 384})});
  const auto placeholder = [](const char* name, Json shape, const char* type) {
    return Json{{"name", name}, {"kind", "placeholder"}, {"tensor", name}, {"shape", std::move(shape)}, {"dtype", type}};
  };
  const auto call = [](const char* name, const char* op, const char* args, Json shape) {
    return Json{{"name", name},
                {"kind", "call"},
                {"op", op},
                {"args", Json::parse(args)},
                {"kwargs", Json::object()},
                {"shape", std::move(shape)},
                {"dtype", "float32"}};
  };
  problem.graph = {
      {"nodes",
       {placeholder("x", {rows, 512}, "float32"), placeholder("w", {384, 512}, std::string(torch_name(dtype)).c_str()),
        placeholder("scale", {384, 1}, "float32"), call("wide", "aten._to_copy.default", R"([{"ref": "w"}])", {384, 512}),
        call("scaled", "aten.mul.Tensor", R"([{"ref": "wide"}, {"ref": "scale"}])", {384, 512}),
        call("linear", "aten.linear.default", R"([{"ref": "x"}, {"ref": "scaled"}, {"const": null}])", {rows, 384})}},
      {"outputs", {"linear"}}};
  return problem;
}

Kernel narrow_kernel(const ProblemDescription& problem, const std::vector<std::string>& strategies) {
  auto playbook = Playbook::read(problem, {.threads = 2});
  EXPECT_TRUE(playbook) << playbook.error().message;
  auto kernel = playbook.value().write(strategies);
  EXPECT_TRUE(kernel) << kernel.error().message;
  return kernel.value();
}

TEST(NarrowWeights, NoCopyInFloatsIsPrepared) {
  const std::vector<std::string> wanted{"register_tile", "prepack_weights", "fuse_prologue", "explicit_vectors", "fold_batch_norm"};
  for (const DType dtype : {DType::i8, DType::u8, DType::f16, DType::bf16}) {
    const Kernel kernel = narrow_kernel(quantised(64, dtype), wanted);
    EXPECT_EQ(kernel.source.find("kw_prepare"), std::string::npos) << torch_name(dtype);
    EXPECT_NE(kernel.source.find("kw_load(w + "), std::string::npos) << torch_name(dtype) << " is read in vectors\n"
                                                                     << kernel.source;
  }
  EXPECT_NE(narrow_kernel(quantised(64, DType::f32), wanted).source.find("kw_prepare"), std::string::npos);
}

TEST(NarrowWeights, NothingIsStoredInFloatsWhereNoPrologueIsWanted) {
  const Kernel kernel = narrow_kernel(quantised(64, DType::i8), {"register_tile", "explicit_vectors"});
  EXPECT_EQ(kernel.source.find("scratch0"), std::string::npos) << kernel.source;
}

TEST(NarrowWeights, AVectorReadsTheBytes) {
  const Kernel kernel =
      narrow_kernel(quantised(1, DType::i8), {"dot_rows", "register_tile", "prepack_weights", "explicit_vectors"});
  EXPECT_NE(std::ranges::find(kernel.claims, "dot_rows"), kernel.claims.end());
  EXPECT_EQ(kernel.source.find("kw_prepare"), std::string::npos);
  EXPECT_NE(kernel.source.find("kw_load(w + "), std::string::npos);
}

}  // namespace
}  // namespace kw
