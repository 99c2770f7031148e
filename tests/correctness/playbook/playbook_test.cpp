#include "playbook/playbook.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "playbook/affine.h"
#include "support/small_problems.h"

namespace kw {
namespace {

using testing::problem_of;
using testing::tensor;

ProblemDescription with_graph(ProblemDescription problem, const std::string& nodes, const std::string& outputs) {
  problem.graph = Json::parse(R"({"nodes": [)" + nodes + R"(], "outputs": [)" + outputs + "]}");
  return problem;
}

std::string placeholder(const std::string& name, const std::string& shape) {
  return R"({"name": ")" + name + R"(", "kind": "placeholder", "op": "placeholder", "tensor": ")" + name + R"(", "shape": )" +
         shape + R"(, "dtype": "float32"})";
}

std::string call(const std::string& name, const std::string& op, const std::string& args, const std::string& shape,
                 const std::string& dtype = "float32") {
  return R"({"name": ")" + name + R"(", "kind": "call", "op": ")" + op + R"(", "args": [)" + args +
         R"(], "kwargs": {}, "shape": )" + shape + R"(, "dtype": ")" + dtype + R"("})";
}

std::string ref(const std::string& name) { return R"({"ref": ")" + name + R"("})"; }

// softmax along the last dimension of 512 rows of 96.
ProblemDescription softmax_rows() {
  auto problem = problem_of({tensor("x", TensorKind::input, {512, 96})}, {}, {tensor("out", TensorKind::output, {512, 96})});
  return with_graph(problem,
                    placeholder("x", "[512, 96]") + "," +
                        call("softmax", "aten.softmax.int", ref("x") + R"(, {"const": -1}, {"const": null})", "[512, 96]"),
                    R"("softmax")");
}

Kernel written(const ProblemDescription& problem, const std::vector<std::string>& strategies) {
  auto playbook = Playbook::read(problem, {.threads = 2});
  EXPECT_TRUE(playbook.ok()) << (playbook.ok() ? "" : playbook.error().message);
  auto kernel = playbook->write(strategies);
  EXPECT_TRUE(kernel.ok());
  return *kernel;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(PlaybookAffine, DividesWhereTheRestStaysBelowTheDivisor) {
  const std::vector<Range> ranges{{0, 9}, {0, 7}};
  const Affine flat = Affine::variable(0) * 8 + Affine::variable(1) + Affine(16);
  const Division exact = divide(flat, 8, ranges);
  ASSERT_TRUE(exact.exact);
  EXPECT_EQ(exact.quotient, Affine::variable(0) + Affine(2));
  EXPECT_EQ(exact.rest, Affine::variable(1));
  EXPECT_FALSE(divide(flat + Affine(1), 8, ranges).exact) << "the rest may reach the divisor";
  EXPECT_FALSE(divide(flat, 3, ranges).exact);
}

TEST(PlaybookAffine, TermsThatCancelAreGone) {
  const Affine value = Affine::variable(3) * 4 + Affine(1) - Affine::variable(3) * 4;
  EXPECT_TRUE(value.is_constant());
  EXPECT_EQ(value, Affine(1));
}

TEST(Playbook, WithoutStrategiesTheKernelIsPlain) {
  const Kernel kernel = written(softmax_rows(), {});
  EXPECT_TRUE(kernel.claims.empty());
  EXPECT_TRUE(kernel.knobs.empty());
  EXPECT_FALSE(contains(kernel.source, "#pragma omp"));
  EXPECT_FALSE(contains(kernel.source, "kw_vec"));
  EXPECT_EQ(count_of(kernel.source, "// naive"), 5) << "maximum, difference, exponential, sum, quotient:\n" << kernel.source;
  EXPECT_TRUE(contains(kernel.source, "extern \"C\" void kw_kernel(const float* x, float* __restrict out)"));
}

TEST(Playbook, ClaimsAreWhatTakesEffect) {
  const Kernel kernel =
      written(softmax_rows(), {"fuse_chain", "fuse_row_passes", "parallel_outer", "explicit_vectors", "vector_maths",
                               "multiple_accumulators", "tile_columns", "split_reduction", "register_tile", "split_scan"});
  EXPECT_EQ(kernel.claims, (std::vector<std::string>{"explicit_vectors", "fuse_chain", "fuse_row_passes", "multiple_accumulators",
                                                     "parallel_outer", "vector_maths"}));
  for (const auto& claim : kernel.claims) EXPECT_TRUE(contains(kernel.source, "// strategy " + claim + ": ")) << claim;
  EXPECT_EQ(count_of(kernel.source, "#pragma omp parallel for"), 1);
  EXPECT_FALSE(contains(kernel.source, "scratch")) << "one stage needs no memory between stages";
  ASSERT_EQ(kernel.knobs.size(), 1U);
  EXPECT_EQ(kernel.knobs[0].name, "KW_ACCUMULATORS");
  EXPECT_TRUE(contains(kernel.source, "// kw:knob KW_ACCUMULATORS 2 4 8\n#ifndef KW_ACCUMULATORS\n"));
  EXPECT_NE(std::ranges::find(kernel.knobs[0].values, kernel.knobs[0].standard), kernel.knobs[0].values.end());
}

TEST(Playbook, OnlyThePiecesInUseArePasted) {
  const std::string fused = written(softmax_rows(), {"fuse_chain", "explicit_vectors", "vector_maths"}).source;
  EXPECT_TRUE(contains(fused, "kw_exp(kw_vec"));
  EXPECT_FALSE(contains(fused, "kw_erf"));
  EXPECT_EQ(count_of(fused, "constexpr int kw_lanes = 8;"), 1);
  const std::string by_libm = written(softmax_rows(), {"fuse_chain", "explicit_vectors"}).source;
  EXPECT_TRUE(contains(by_libm, "kw_each"));
}

TEST(Playbook, AReductionOverAnOuterDimensionRunsOverColumns) {
  auto problem = problem_of({tensor("x", TensorKind::input, {64, 256})}, {}, {tensor("out", TensorKind::output, {256})});
  problem = with_graph(problem,
                       placeholder("x", "[64, 256]") + "," +
                           call("amax", "aten.amax.default", ref("x") + R"(, {"list": [{"const": 0}]}, {"const": false})", "[256]"),
                       R"("amax")");
  const Kernel tiled = written(problem, {"explicit_vectors", "tile_columns"});
  EXPECT_EQ(tiled.claims, (std::vector<std::string>{"explicit_vectors", "tile_columns"}));
  EXPECT_FALSE(contains(tiled.source, "kw_gather(x"));
}

TEST(Playbook, ViewsAreReadThroughTheirStrides) {
  auto x = tensor("x", TensorKind::input, {8, 4});
  x.strides = {1, 8};
  auto problem = problem_of({x}, {}, {tensor("out", TensorKind::output, {4, 8})});
  problem = with_graph(problem,
                       placeholder("x", "[8, 4]") + "," + call("t", "aten.t.default", ref("x"), "[4, 8]") + "," +
                           call("neg", "aten.neg.default", ref("t"), "[4, 8]"),
                       R"("neg")");
  EXPECT_TRUE(contains(written(problem, {}).source, "out[i * 8 + i1] = (-x[i * 8 + i1]);")) << written(problem, {}).source;
}

TEST(Playbook, TensorsMayBeCalledLikeItsOwnVariables) {
  auto problem = problem_of({tensor("i", TensorKind::input, {16}), tensor("j", TensorKind::input, {16})}, {},
                            {tensor("row", TensorKind::output, {16})});
  problem = with_graph(problem,
                       placeholder("i", "[16]") + "," + placeholder("j", "[16]") + "," +
                           call("add", "aten.add.Tensor", ref("i") + "," + ref("j"), "[16]"),
                       R"("add")");
  const std::string source = written(problem, {}).source;
  EXPECT_FALSE(contains(source, "std::int64_t i =")) << source;
  EXPECT_FALSE(contains(source, "std::int64_t j =")) << source;
}

TEST(Playbook, FeaturesDescribeTheLargestReduction) {
  const auto playbook = Playbook::read(softmax_rows(), {.threads = 2});
  ASSERT_TRUE(playbook.ok());
  Features features = playbook->features();
  EXPECT_EQ(features["has_rows"], 1);
  EXPECT_EQ(features["row_count"], 512);
  EXPECT_EQ(features["row_elements"], 96);
  EXPECT_EQ(features["transcendental_ops"], 1);
  EXPECT_EQ(features["has_softmax"], 1);
  EXPECT_EQ(features["reductions"], 2);
  EXPECT_EQ(features["threads"], 2);
  EXPECT_EQ(features["has_product"], 0);
}

TEST(PlaybookErrors, AnUnknownOperationIsNamedWithItsNode) {
  auto problem = problem_of({tensor("x", TensorKind::input, {4})}, {}, {tensor("out", TensorKind::output, {4})});
  problem = with_graph(problem, placeholder("x", "[4]") + "," + call("strange_1", "aten.strange.default", ref("x"), "[4]"),
                       R"("strange_1")");
  const auto playbook = Playbook::read(problem, {});
  ASSERT_FALSE(playbook.ok());
  EXPECT_EQ(playbook.error().kind, ErrorKind::bad_input);
  EXPECT_TRUE(contains(playbook.error().message, "aten.strange.default (node strange_1)")) << playbook.error().message;
}

TEST(PlaybookErrors, AProblemWithoutAGraphSaysWhy) {
  auto problem = problem_of({tensor("x", TensorKind::input, {4})}, {}, {tensor("out", TensorKind::output, {4})});
  problem.graph_error = "forward() branches on data";
  const auto playbook = Playbook::read(problem, {});
  ASSERT_FALSE(playbook.ok());
  EXPECT_TRUE(contains(playbook.error().message, "branches on data"));
}

}  // namespace
}  // namespace kw
