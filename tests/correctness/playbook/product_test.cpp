// Matrix products: the pieces that kernels are made of, what is known of operands, and which strategies a kernel then really has.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "../../../knowledge/playbook/product.h"
#include "playbook/playbook.h"
#include "playbook/product.h"
#include "support/small_problems.h"

namespace kw {
namespace {

using testing::problem_of;
using testing::tensor;

std::vector<float> some_numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> numbers(count);
  std::ranges::generate(numbers, [&] { return uniform(random); });
  return numbers;
}

TEST(ProductPieces, TransposeTurnsASquareOver) {
  const auto numbers = some_numbers(kw_lanes * kw_lanes, 1);
  kw_vec rows[kw_lanes];
  for (int i = 0; i < kw_lanes; ++i) rows[i] = kw_load(numbers.data() + i * kw_lanes);
  kw_transpose<kw_lanes>(rows);
  for (int i = 0; i < kw_lanes; ++i)
    for (int j = 0; j < kw_lanes; ++j) EXPECT_EQ(rows[i][j], numbers[static_cast<std::size_t>(j * kw_lanes + i)]);
}

TEST(ProductPieces, HalfAsManyRowsAreTurnedOverIntoColumns) {
  constexpr int kTall = kw_lanes / 2;
  const auto numbers = some_numbers(kTall * kw_lanes, 5);
  kw_vec rows[kTall];
  for (int i = 0; i < kTall; ++i) rows[i] = kw_load(numbers.data() + i * kw_lanes);
  kw_transpose<kTall>(rows);
  for (int column = 0; column < kw_lanes; ++column) {
    std::vector<float> stored(kTall + 1, -7.0F);
    kw_store_column<kTall>(stored.data(), rows, column);
    for (int i = 0; i < kTall; ++i)
      EXPECT_EQ(stored[static_cast<std::size_t>(i)], numbers[static_cast<std::size_t>(i * kw_lanes + column)]);
    EXPECT_EQ(stored.back(), -7.0F) << "nothing past it is touched";
  }
}

TEST(ProductPieces, ATileIsTheSumOfProductsAndWhatWasBefore) {
  constexpr int kRows = 3;
  constexpr std::int64_t kSteps = 19;
  constexpr std::int64_t kColumns = 2 * kw_lanes;
  const auto left = some_numbers(kRows * kSteps, 2);
  const auto right = some_numbers(kSteps * kColumns, 3);
  const auto before = some_numbers(kRows * kColumns, 4);
  alignas(64) float tile[kRows * kColumns];
  for (const int way : {0, 1, 2}) {
    const bool add = way == 1;
    if (way == 2) {
      kw_product_tile<kRows, 2, kSteps, 1, kColumns, kColumns, true>(left.data(), right.data(), kSteps, nullptr, tile);
      kw_stream_fence();
    } else {
      kw_product_tile<kRows, 2, kSteps, 1, kColumns, kColumns>(left.data(), right.data(), kSteps, add ? before.data() : nullptr,
                                                               tile);
    }
    for (std::size_t r = 0; r < kRows; ++r)
      for (std::size_t c = 0; c < kColumns; ++c) {
        double sum = add ? before[r * kColumns + c] : 0.0;
        for (std::size_t k = 0; k < kSteps; ++k) sum += double{left[r * kSteps + k]} * right[k * kColumns + c];
        EXPECT_NEAR(tile[r * kColumns + c], sum, 1e-5);
      }
  }
}

TEST(ProductPieces, APanelKnowsItsZerosAndWhetherItIsFinite) {
  constexpr std::int64_t kWidth = 6;
  std::vector<float> panel(kWidth * 10, 0.0F);
  kw_panel_facts facts{};
  facts.look<kWidth>(panel.data(), 10);
  EXPECT_EQ(facts.begin, facts.end);
  panel[3 * kWidth + 2] = 1;
  panel[7 * kWidth] = -0.5F;
  panel[9 * kWidth] = -0.0F;
  facts.look<kWidth>(panel.data(), 10);
  EXPECT_EQ(facts.begin, 3);
  EXPECT_EQ(facts.end, 8);
  EXPECT_TRUE(facts.finite);
  panel[5 * kWidth + 1] = std::numeric_limits<float>::quiet_NaN();
  facts.look<kWidth>(panel.data(), 10);
  EXPECT_FALSE(facts.finite);
}

// where(column (compare) row + diagonal, x, 0) for a square x.
ValueId masked_square(Graph& graph, const std::string& compare, std::int64_t diagonal) {
  Value x{.kind = ValueKind::argument, .dtype = DType::f32, .shape = {40, 40}};
  x.strides = {40, 1};
  x.name = "x";
  const ValueId argument = graph.add(x);
  const ValueId row =
      graph.pointwise("add", {graph.reshape(graph.iota(40), {40, 1}), graph.constant(double(diagonal), DType::i64)}, DType::i64);
  const ValueId mask = graph.pointwise(compare, {graph.iota(40), row}, DType::boolean);
  return graph.pointwise("where", {mask, argument, graph.constant(0)}, DType::f32);
}

TEST(ProductFacts, BandsOfTriangles) {
  Graph graph;
  const auto lower = band_of(graph, masked_square(graph, "le", 2));
  ASSERT_TRUE(lower);
  EXPECT_EQ(lower->high, 2);
  EXPECT_LT(lower->low, -40);
  const auto upper = band_of(graph, masked_square(graph, "ge", 0));
  ASSERT_TRUE(upper);
  EXPECT_EQ(upper->low, 0);
  const auto turned = band_of(graph, graph.permute(masked_square(graph, "ge", 3), {1, 0}));
  ASSERT_TRUE(turned);
  EXPECT_EQ(turned->high, -3);
  const auto diagonal = band_of(graph, masked_square(graph, "eq", 0));
  ASSERT_TRUE(diagonal);
  EXPECT_EQ(diagonal->low, 0);
  EXPECT_EQ(diagonal->high, 0);
  EXPECT_FALSE(band_of(graph, masked_square(graph, "ne", 0)));
}

ProblemDescription one_call(const std::string& op, const std::string& arguments, const Shape& a, const Shape& b, const Shape& out,
                            TensorKind second) {
  std::vector<TensorSpec> inputs{tensor("left", TensorKind::input, a)};
  std::vector<TensorSpec> parameters;
  (second == TensorKind::input ? inputs : parameters).push_back(tensor("right", second, b));
  auto problem = problem_of(inputs, parameters, {tensor("out", TensorKind::output, out)});
  const auto placeholder = [](const std::string& name, const Shape& shape) {
    return Json{{"name", name},   {"kind", "placeholder"}, {"op", "placeholder"},
                {"tensor", name}, {"shape", shape},        {"dtype", "float32"}};
  };
  Json nodes = Json::array({placeholder("left", a), placeholder("right", b)});
  nodes.push_back({{"name", "result"},
                   {"kind", "call"},
                   {"op", op},
                   {"args", Json::parse(arguments)},
                   {"kwargs", Json::object()},
                   {"shape", out},
                   {"dtype", "float32"}});
  problem.graph = Json{{"nodes", nodes}, {"outputs", {"result"}}};
  return problem;
}

const MachineFacts kTwoThreads{.threads = 2};

Kernel kernel_of(const ProblemDescription& problem, const std::vector<std::string>& strategies) {
  auto playbook = Playbook::read(problem, kTwoThreads);
  EXPECT_TRUE(playbook) << playbook.error().message;
  auto kernel = playbook.value().write(strategies);
  EXPECT_TRUE(kernel) << kernel.error().message;
  return kernel.value();
}

bool claims(const Kernel& kernel, const std::string& strategy) {
  return std::ranges::find(kernel.claims, strategy) != kernel.claims.end();
}

bool says(const Kernel& kernel, const std::string& text) { return kernel.source.find(text) != std::string::npos; }

constexpr const char* kBoth = R"([{"ref": "left"}, {"ref": "right"}])";

TEST(ProductKernels, EachStrategyShowsInTheText) {
  const auto problem = one_call("aten.mm.default", kBoth, {300, 700}, {700, 200}, {300, 200}, TensorKind::input);
  const auto plain = kernel_of(problem, {});
  EXPECT_TRUE(plain.claims.empty());
  EXPECT_FALSE(says(plain, "kw_product_tile"));
  const auto tiled = kernel_of(problem, {"register_tile"});
  EXPECT_EQ(tiled.claims, std::vector<std::string>{"register_tile"});
  EXPECT_TRUE(says(tiled, "kw_product_tile<"));
  EXPECT_FALSE(says(tiled, "omp parallel"));
  const auto all =
      kernel_of(problem, {"register_tile", "cache_tile_depth", "cache_tile_rows", "pack_left", "pack_right", "parallel_panels"});
  EXPECT_EQ(all.claims.size(), 6U);
  for (const char* text : {"KW_KC", "KW_MC", "pack_left(", "pack_right(", "omp parallel"}) EXPECT_TRUE(says(all, text)) << text;
  // Arguments have the names of the problem; nothing in the text may hide them.
  EXPECT_FALSE(says(all, "const float* left = "));
}

TEST(ProductKernels, ThreadsShareThePanelsWhereThereAreRowsForAll) {
  const std::vector<std::string> wanted{"register_tile", "pack_left", "pack_right", "parallel_panels"};
  const auto of_rows = [&](std::int64_t rows) {
    return kernel_of(one_call("aten.mm.default", kBoth, {rows, 300}, {300, 200}, {rows, 200}, TensorKind::input), wanted);
  };
  const auto many = of_rows(600);
  EXPECT_TRUE(claims(many, "parallel_panels"));
  EXPECT_TRUE(says(many, "#pragma omp for"));
  EXPECT_FALSE(says(many, "thread_local float packed_right"));
  EXPECT_FALSE(says(of_rows(100), "#pragma omp for"));
}

TEST(ProductKernels, WeightsArePackedOnce) {
  const auto problem = one_call("aten.linear.default", R"([{"ref": "left"}, {"ref": "right"}, {"const": null}])", {64, 96},
                                {128, 96}, {64, 128}, TensorKind::parameter);
  const auto kernel = kernel_of(problem, {"register_tile", "prepack_weights"});
  EXPECT_TRUE(claims(kernel, "prepack_weights"));
  EXPECT_TRUE(says(kernel, "kw_prepare("));
  EXPECT_FALSE(claims(kernel_of(problem, {"register_tile"}), "prepack_weights"));
}

TEST(ProductKernels, MatrixTimesVectorIsDotsOfRows) {
  const auto problem = one_call("aten.mv.default", kBoth, {500, 640}, {640}, {500}, TensorKind::input);
  const auto kernel = kernel_of(problem, {"dot_rows", "register_tile"});
  EXPECT_EQ(kernel.claims, std::vector<std::string>{"dot_rows"});
  EXPECT_TRUE(says(kernel, "KW_ROWS"));
}

TEST(ProductKernels, AVectorBesideALargerProductIsSeenAndHasDotsOfItsOwn) {
  auto problem =
      one_call("aten.mv.default", R"([{"ref": "square"}, {"ref": "right"}])", {320, 320}, {320}, {320}, TensorKind::input);
  Json& nodes = problem.graph["nodes"];
  Json square = nodes[2];
  square["name"] = "square";
  square["op"] = "aten.mm.default";
  square["args"] = Json::parse(R"([{"ref": "left"}, {"ref": "left"}])");
  square["shape"] = {320, 320};
  nodes.insert(nodes.begin() + 2, square);
  auto playbook = Playbook::read(problem, kTwoThreads);
  ASSERT_TRUE(playbook) << playbook.error().message;
  Features features = playbook.value().features();
  EXPECT_EQ(features["has_matvec"], 1);
  EXPECT_EQ(features["is_matvec"], 0);
  EXPECT_EQ(features["product_n"], 320);
  const auto kernel = kernel_of(problem, {"dot_rows", "register_tile"});
  EXPECT_TRUE(claims(kernel, "dot_rows"));
  EXPECT_TRUE(claims(kernel, "register_tile"));
}

TEST(ProductKernels, LongInnerDimensionsAreSplit) {
  const auto small = one_call("aten.mm.default", kBoth, {64, 16384}, {16384, 64}, {64, 64}, TensorKind::input);
  EXPECT_TRUE(claims(kernel_of(small, {"register_tile", "split_depth"}), "split_depth"));
  const auto wide = one_call("aten.mm.default", kBoth, {640, 1024}, {1024, 640}, {640, 640}, TensorKind::input);
  EXPECT_FALSE(claims(kernel_of(wide, {"register_tile", "split_depth"}), "split_depth"));
}

TEST(ProductKernels, SeveralDimensionsOfBatchesArePackedInVectors) {
  const auto problem =
      one_call("aten.einsum.default", R"([{"const": "bhtd,bhde->bhte"}, {"list": [{"ref": "left"}, {"ref": "right"}]}])",
               {4, 8, 64, 32}, {4, 8, 32, 48}, {4, 8, 64, 48}, TensorKind::input);
  const Kernel kernel = kernel_of(problem, {"register_tile", "pack_left"});
  EXPECT_NE(kernel.source.find("kw_transpose<tall>(block"), std::string::npos) << kernel.source;
}

TEST(ProductKernels, LargeOutputsOfShortSumsGoPastTheCaches) {
  const auto claimed = [](std::int64_t depth, std::int64_t columns) {
    const auto problem = one_call("aten.mm.default", kBoth, {2048, depth}, {depth, columns}, {2048, columns}, TensorKind::input);
    return claims(kernel_of(problem, {"register_tile", "pack_left", "pack_right", "explicit_vectors", "stream_stores"}),
                  "stream_stores");
  };
  EXPECT_TRUE(claimed(32, 1024));
  EXPECT_FALSE(claimed(32, 128)) << "what is small stays in a cache";
  EXPECT_FALSE(claimed(32, 1030)) << "rows that do not begin at a vector's multiple";
  EXPECT_FALSE(claimed(600, 1024)) << "sums of several blocks are read again";
}

TEST(ProductKernels, EinsumOfEveryOrderIsAProduct) {
  const auto problem = one_call("aten.einsum.default",
                                R"([{"const": "kij,kmj->imk"}, {"list": [{"ref": "left"}, {"ref": "right"}]}, {"const": null}])",
                                {5, 20, 48}, {5, 32, 48}, {20, 32, 5}, TensorKind::input);
  EXPECT_TRUE(claims(kernel_of(problem, {"register_tile", "pack_left", "pack_right"}), "register_tile"));
}

}  // namespace
}  // namespace kw
