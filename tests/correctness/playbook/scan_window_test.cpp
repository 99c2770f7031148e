// Scans, windows, argument reductions and lookups: what the kernel's text does, and what it claims.
#include <gtest/gtest.h>

#include <algorithm>

#include "playbook/playbook.h"
#include "playbook/stage_window.h"

namespace kw {
namespace {

Json constants(const std::vector<int>& numbers) {
  Json list = Json::array();
  for (const int number : numbers) list.push_back({{"const", number}});
  return {{"list", list}};
}

TensorSpec tensor_of(const std::string& name, const Shape& shape, TensorKind kind, DType dtype = DType::f32) {
  TensorSpec spec;
  spec.name = spec.c_name = name;
  spec.dtype = dtype;
  spec.kind = kind;
  spec.shape = shape;
  spec.strides = contiguous_strides(shape);
  spec.span = numel(shape);
  return spec;
}

// One operation on x, whose other arguments are given.
ProblemDescription one_operation(const std::string& op, const Shape& in, const Shape& out, const Json& more,
                                 DType result = DType::f32) {
  ProblemDescription problem;
  problem.name = "one_operation";
  problem.inputs = {tensor_of("x", in, TensorKind::input)};
  problem.outputs = {tensor_of("out", out, TensorKind::output, result)};
  Json args = Json::array({{{"ref", "x"}}});
  for (const auto& argument : more) args.push_back(argument);
  const Json placeholder = {{"name", "x"}, {"op", "placeholder"}, {"args", Json::array()}, {"kwargs", Json::object()},
                            {"shape", in}, {"dtype", "float32"},  {"kind", "placeholder"}, {"tensor", "x"}};
  const Json call = {{"name", "y"},   {"op", op},
                     {"args", args},  {"kwargs", Json::object()},
                     {"shape", out},  {"dtype", std::string(torch_name(result))},
                     {"kind", "call"}};
  problem.graph = {{"nodes", Json::array({placeholder, call})}, {"outputs", Json::array({"y"})}};
  return problem;
}

Kernel scan_or_window(const ProblemDescription& problem, const std::vector<std::string>& strategies) {
  auto playbook = Playbook::read(problem, {.threads = 4});
  EXPECT_TRUE(playbook.ok()) << (playbook.ok() ? "" : playbook.error().message);
  if (!playbook) return {};
  auto kernel = playbook->write(strategies);
  EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? "" : kernel.error().message);
  return kernel ? *kernel : Kernel{};
}

bool scan_claims(const Kernel& kernel, const std::string& strategy) {
  return std::ranges::find(kernel.claims, strategy) != kernel.claims.end();
}
bool scan_says(const Kernel& kernel, const std::string& text) { return kernel.source.find(text) != std::string::npos; }

const Json kDimOne = Json::array({{{"const", 1}}});

TEST(InteriorOutputs, LeaveOutWindowsThatReachIntoThePadding) {
  const auto padded = interior_outputs({.size = 3, .stride = 2, .before = 1}, 120, 60);
  EXPECT_EQ(padded.begin, 1);
  EXPECT_EQ(padded.end, 60);
  const auto wide = interior_outputs({.size = 5, .stride = 1, .before = 2}, 4, 4);
  EXPECT_EQ(wide.begin, wide.end);
}

TEST(ScanStage, RunsInVectorsOnlyWhereAskedFor) {
  const auto problem = one_operation("aten.cumsum.default", {64, 128}, {64, 128}, kDimOne);
  const Kernel plain = scan_or_window(problem, {});
  EXPECT_TRUE(plain.claims.empty());
  EXPECT_TRUE(scan_says(plain, "double running"));
  const Kernel vectors = scan_or_window(problem, {"explicit_vectors", "vector_scan"});
  EXPECT_TRUE(scan_claims(vectors, "vector_scan"));
  EXPECT_TRUE(scan_says(vectors, "kw_running_sum"));
  EXPECT_FALSE(scan_claims(scan_or_window(problem, {"vector_scan"}), "vector_scan"));
}

TEST(ScanStage, SplitsFewLongRowsAndNoOthers) {
  const std::vector<std::string> wanted{"parallel_outer", "split_scan"};
  EXPECT_TRUE(
      scan_claims(scan_or_window(one_operation("aten.cumsum.default", {2, 1 << 20}, {2, 1 << 20}, kDimOne), wanted), "split_scan"));
  EXPECT_FALSE(
      scan_claims(scan_or_window(one_operation("aten.cumsum.default", {512, 4096}, {512, 4096}, kDimOne), wanted), "split_scan"));
}

TEST(ScanStage, GoesDownColumns) {
  const auto problem = one_operation("aten.cumprod.default", {8, 64, 200}, {8, 64, 200}, kDimOne);
  const Kernel kernel = scan_or_window(problem, {"explicit_vectors", "scan_columns"});
  EXPECT_TRUE(scan_claims(kernel, "scan_columns"));
  EXPECT_TRUE(scan_says(kernel, "kw_wide_prod"));
}

// x.cumsum(1)[:, :-1] with a zero in front of it.
TEST(ScanStage, TakesWhatIsBeforeEachElementInOnePass) {
  ProblemDescription problem = one_operation("aten.cumsum.default", {64, 128}, {64, 128}, kDimOne);
  const auto call = [](const char* name, const char* op, const Json& args, const Shape& shape) {
    return Json{{"name", name},   {"op", op},           {"args", args},  {"kwargs", Json::object()},
                {"shape", shape}, {"dtype", "float32"}, {"kind", "call"}};
  };
  const auto number = [](int value) { return Json{{"const", value}}; };
  Json& nodes = problem.graph["nodes"];
  nodes.push_back(call("part", "aten.slice.Tensor", Json::array({{{"ref", "y"}}, number(1), number(0), number(-1)}), {64, 127}));
  for (const int filler : {0, 1}) {
    ProblemDescription padded = problem;
    padded.graph["nodes"].push_back(call("out", "aten.constant_pad_nd.default",
                                         Json::array({{{"ref", "part"}}, constants({1, 0}), number(filler)}), {64, 128}));
    padded.graph["outputs"] = Json::array({"out"});
    const Kernel kernel = scan_or_window(padded, {"explicit_vectors", "vector_scan"});
    EXPECT_EQ(scan_says(kernel, "scratch"), filler == 1) << kernel.source;  // another number in front is no running sum
    EXPECT_EQ(scan_says(kernel, "kw_moved_up<1>(kw_splat("), filler == 0);
  }
}

TEST(WindowStage, SeparatesDimensionsOfWhichThereAreSeveral) {
  const Json pooling =
      Json::array({constants({3, 3}), constants({2, 2}), constants({1, 1}), constants({1, 1}), {{"const", false}}});
  const auto images = one_operation("aten.max_pool2d.default", {2, 3, 40, 40}, {2, 3, 20, 20}, pooling);
  EXPECT_TRUE(scan_claims(scan_or_window(images, {"separable_window", "explicit_vectors"}), "separable_window"));
  const Json short_pooling = Json::array({constants({5}), constants({2}), constants({2}), constants({1}), {{"const", false}}});
  const auto rows = one_operation("aten.max_pool1d.default", {2, 3, 64}, {2, 3, 32}, short_pooling);
  EXPECT_FALSE(scan_claims(scan_or_window(rows, {"separable_window", "explicit_vectors"}), "separable_window"));
  EXPECT_TRUE(scan_claims(scan_or_window(rows, {"window_interior"}), "window_interior"));
}

TEST(WindowStage, CountsThePaddingOfMeansOnlyWhereAskedFor) {
  const auto pooling = [](bool with_padding) {
    return Json::array({constants({3, 3}),
                        constants({2, 2}),
                        constants({1, 1}),
                        {{"const", false}},
                        {{"const", with_padding}},
                        {{"const", nullptr}}});
  };
  const Shape in{1, 2, 16, 16};
  const Shape out{1, 2, 8, 8};
  EXPECT_TRUE(scan_says(scan_or_window(one_operation("aten.avg_pool2d.default", in, out, pooling(false)), {}), "kw_table_"));
  EXPECT_TRUE(scan_says(scan_or_window(one_operation("aten.avg_pool2d.default", in, out, pooling(true)), {}), "9.0f"));
}

TEST(WindowStage, TakesGridsThatDoNotDivideTheInput) {
  const auto problem =
      one_operation("aten.adaptive_avg_pool2d.default", {2, 4, 100, 100}, {2, 4, 7, 7}, Json::array({constants({7, 7})}));
  for (const auto& strategies : {std::vector<std::string>{}, {"separable_window", "explicit_vectors", "parallel_outer"}})
    EXPECT_TRUE(scan_says(scan_or_window(problem, strategies), "* 100 / 7"));
}

TEST(ArgStage, KeepsPositionsInLanes) {
  const Json args = Json::array({{{"const", 1}}, {{"const", false}}});
  const auto rows = one_operation("aten.argmax.default", {64, 512}, {64}, args, DType::i64);
  EXPECT_TRUE(scan_claims(scan_or_window(rows, {"explicit_vectors", "vector_argument"}), "vector_argument"));
  EXPECT_TRUE(scan_or_window(rows, {}).claims.empty());
  const auto columns = one_operation("aten.argmin.default", {8, 64, 512}, {8, 512}, args, DType::i64);
  EXPECT_TRUE(scan_says(scan_or_window(columns, {"explicit_vectors", "vector_argument"}), "kw_beating_min"));
}

}  // namespace
}  // namespace kw
