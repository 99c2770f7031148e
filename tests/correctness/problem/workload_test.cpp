#include "problem/workload.h"

#include <gtest/gtest.h>

#include "support/small_problems.h"

namespace kw {
namespace {

// The class of a graph that calls these operations, in this order.
std::string class_of(const std::vector<std::string>& ops) {
  auto problem = testing::vector_problem(4);
  problem.graph = {{"nodes", Json::array({{{"name", "x"}, {"kind", "placeholder"}, {"op", "aten.mm.default"}}})},
                   {"outputs", {"y"}}};
  for (const auto& op : ops) problem.graph["nodes"].push_back({{"name", "n"}, {"kind", "call"}, {"op", op}});
  return workload_class(problem).text();
}

TEST(Workload, TheHeaviestOperationIsTheMainOne) {
  EXPECT_EQ(class_of({"aten.relu.default"}), "pointwise");
  EXPECT_EQ(class_of({"aten.relu.default", "aten.addmm.default"}), "matmul + pointwise");
  EXPECT_EQ(class_of({"aten.linear.default", "aten.gelu.default", "aten.softmax.int"}), "matmul + pointwise + softmax");
  EXPECT_EQ(class_of({"aten.matmul.default", "aten.conv2d.default"}), "convolution + matmul");
  EXPECT_EQ(class_of({"aten.scaled_dot_product_attention.default", "aten.linear.default"}), "attention + matmul");
}

TEST(Workload, EachClassIsRecognised) {
  const std::pair<const char*, const char*> rows[] = {{"aten.convolution.default", "convolution"},
                                                      {"aten.conv_transpose2d.input", "convolution"},
                                                      {"aten.cumsum.default", "scan"},
                                                      {"aten.mse_loss.default", "loss"},
                                                      {"aten._log_softmax.default", "softmax"},
                                                      {"aten.native_layer_norm.default", "normalisation"},
                                                      {"aten.max_pool2d.default", "pooling"},
                                                      {"aten.argmax.default", "argument reduction"},
                                                      {"aten.mean.dim", "reduction"},
                                                      {"aten.embedding.default", "gather"},
                                                      {"aten.upsample_bilinear2d.vec", "interpolation"},
                                                      {"aten.gru.input", "recurrent"},
                                                      {"aten.bmm.default", "matmul"},
                                                      {"aten._native_batch_norm_legit_no_training.default", "normalisation"},
                                                      {"aten.permute.default", "movement"},
                                                      {"aten.tanh.default", "pointwise"}};
  for (const auto& [op, name] : rows) EXPECT_EQ(class_of({op}), name) << op;
}

TEST(Workload, TheOverloadTellsAReductionFromAPointwiseMaximum) {
  EXPECT_EQ(class_of({"aten.max.other"}), "pointwise");
  EXPECT_EQ(class_of({"aten.max.dim"}), "reduction");
  EXPECT_EQ(class_of({"aten.min.default"}), "reduction");
  EXPECT_EQ(class_of({"aten.maximum.default"}), "pointwise");
}

TEST(Workload, MovementIsNeverMentionedBesideWork) {
  EXPECT_EQ(class_of({"aten.view.default", "aten.mm.default", "aten.permute.default", "operator.getitem"}), "matmul");
  EXPECT_EQ(class_of({"aten.view.default", "aten.mul.Tensor"}), "pointwise");
  EXPECT_EQ(class_of({"aten.view.default"}), "movement");
}

TEST(Workload, PlaceholdersAreNoWork) { EXPECT_EQ(class_of({}), "movement") << "the placeholder's op must not count"; }

TEST(Workload, RepeatedClassesAreNamedOnce) {
  EXPECT_EQ(class_of({"aten.mm.default", "aten.relu.default", "aten.mm.default", "aten.add.Tensor"}), "matmul + pointwise");
}

TEST(Workload, WithoutAGraphItIsUnknown) {
  auto problem = testing::vector_problem(4);
  for (const Json& graph : {Json(), Json("text"), Json::array(), Json::object()}) {
    problem.graph = graph;
    EXPECT_EQ(workload_class(problem).text(), "unknown") << graph.dump();
  }
}

TEST(Workload, OddNodesAreNoHarm) {
  auto problem = testing::vector_problem(4);
  problem.graph = {
      {"nodes",
       {Json(), "text", Json::object(), {{"kind", "call"}}, {{"kind", "call"}, {"op", "aten."}}, {{"kind", "call"}, {"op", ""}}}}};
  EXPECT_FALSE(workload_class(problem).text().empty());
}

}  // namespace
}  // namespace kw
