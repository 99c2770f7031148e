// Convolutions: how they are read, where taps and outputs meet, and what the kernel's text claims.
#include <gtest/gtest.h>

#include <algorithm>

#include "../../../knowledge/playbook/convolution.h"
#include "playbook/convolution.h"
#include "playbook/playbook.h"

namespace kw {
namespace {

Json list_of(const std::vector<int>& numbers) {
  Json list = Json::array();
  for (const int number : numbers) list.push_back({{"const", number}});
  return {{"list", list}};
}

TensorSpec argument_of(const std::string& name, const Shape& shape, TensorKind kind) {
  TensorSpec spec;
  spec.name = spec.c_name = name;
  spec.kind = kind;
  spec.shape = shape;
  spec.strides = contiguous_strides(shape);
  spec.span = numel(shape);
  return spec;
}

// One convolution of x with weights, whose further arguments are given; the bias is absent.
ProblemDescription convolution_problem(const std::string& op, const Shape& in, const Shape& weight, const Shape& out,
                                       const Json& more) {
  ProblemDescription problem;
  problem.name = "convolution";
  problem.inputs = {argument_of("x", in, TensorKind::input)};
  problem.parameters = {argument_of("weight", weight, TensorKind::parameter)};
  problem.outputs = {argument_of("out", out, TensorKind::output)};
  const auto placeholder = [](const char* name, const Shape& shape) -> Json {
    return {{"name", name},   {"op", "placeholder"}, {"args", Json::array()}, {"kwargs", Json::object()},
            {"shape", shape}, {"dtype", "float32"},  {"kind", "placeholder"}, {"tensor", name}};
  };
  Json args = Json::array({{{"ref", "x"}}, {{"ref", "weight"}}, {{"const", nullptr}}});
  for (const auto& argument : more) args.push_back(argument);
  const Json call = {{"name", "y"},  {"op", op},           {"args", args},  {"kwargs", Json::object()},
                     {"shape", out}, {"dtype", "float32"}, {"kind", "call"}};
  problem.graph = {{"nodes", Json::array({placeholder("x", in), placeholder("weight", weight), call})},
                   {"outputs", Json::array({"y"})}};
  return problem;
}

ProblemDescription square_problem() {
  return convolution_problem("aten.conv2d.default", {2, 16, 28, 28}, {24, 16, 3, 3}, {2, 24, 28, 28},
                             Json::array({list_of({1, 1}), list_of({1, 1}), list_of({1, 1}), {{"const", 1}}}));
}

Kernel convolution_kernel(const ProblemDescription& problem, const std::vector<std::string>& strategies) {
  auto playbook = Playbook::read(problem, {.threads = 2, .vector_bytes = 64});
  EXPECT_TRUE(playbook.ok()) << (playbook.ok() ? "" : playbook.error().message);
  if (!playbook) return {};
  auto kernel = playbook->write(strategies);
  EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? "" : kernel.error().message);
  return kernel ? *kernel : Kernel{};
}

bool kernel_claims(const Kernel& kernel, const std::string& strategy) {
  return std::ranges::find(kernel.claims, strategy) != kernel.claims.end();
}

ConvolutionFacts facts_along(const WindowDim& dim, std::int64_t inputs, std::int64_t outputs) {
  Graph graph;
  Value input{.kind = ValueKind::argument, .shape = {1, 1, inputs}};
  input.name = "x";
  Value weight{.kind = ValueKind::argument, .shape = {1, 1, dim.size}};
  weight.name = "w";
  const ValueId x = graph.add(input);
  const ValueId w = graph.add(weight);
  return convolution_facts(graph, graph.convolution(x, w, {1, 1, outputs}, {dim}, 1));
}

TEST(ConvolutionFacts, PutInputsThatAStrideReachesNextToEachOther) {
  const auto facts = facts_along({.size = 3, .stride = 2, .before = 1}, 10, 5);
  EXPECT_EQ(facts.column.slots, (std::vector<std::int64_t>{-1, 0}));
  EXPECT_EQ(facts.column.taps[0].slot, 0);
  EXPECT_EQ(facts.column.taps[1].slot, 1);
  EXPECT_EQ(facts.column.taps[2].slot, 0);
  EXPECT_EQ(facts.column.taps[2].shift, 1);
  EXPECT_EQ(facts.column.reach, 1);
  EXPECT_EQ(facts.phases(), 1);
}

// Every output of a transposed convolution is the sum over the taps of its phase: the same as its definition says.
TEST(ConvolutionFacts, GiveEachPhaseOfATransposedOneItsTaps) {
  const WindowDim dim{.size = 5, .before = 3, .dilation = 2, .up = 3};
  const std::int64_t inputs = 4, outputs = 14;
  const auto facts = facts_along(dim, inputs, outputs);
  EXPECT_EQ(facts.phases(), 3);
  for (std::int64_t o = 0; o < outputs; ++o) {
    std::vector<std::pair<std::int64_t, std::int64_t>> by_definition, by_phase;
    for (std::int64_t k = 0; k < dim.size; ++k) {
      const std::int64_t place = o - dim.before + k * dim.dilation;
      if (place >= 0 && place % dim.up == 0 && place / dim.up < inputs) by_definition.emplace_back(k, place / dim.up);
    }
    for (const auto& tap : facts.taps()) {
      if (tap.phase != o % dim.up) continue;
      const auto& own = facts.column.taps[static_cast<std::size_t>(tap.at[0])];
      const std::int64_t at = o / dim.up + own.shift + facts.column.slots[static_cast<std::size_t>(own.slot)];
      if (at >= 0 && at < inputs) by_phase.emplace_back(tap.at[0], at);
    }
    EXPECT_EQ(by_phase, by_definition) << "output " << o;
  }
}

TEST(ConvolutionStage, IsPlainUnlessTilesAreWanted) {
  const Kernel plain = convolution_kernel(square_problem(), {});
  EXPECT_TRUE(plain.claims.empty());
  EXPECT_EQ(plain.source.find("kw_vec"), std::string::npos);
  const Kernel threads = convolution_kernel(square_problem(), {"parallel_outer"});
  EXPECT_EQ(threads.claims, std::vector<std::string>{"parallel_outer"});
  const Kernel tiles = convolution_kernel(square_problem(), {"convolution_tile", "explicit_vectors", "prepack_weights"});
  EXPECT_TRUE(kernel_claims(tiles, "convolution_tile"));
  EXPECT_TRUE(kernel_claims(tiles, "prepack_weights"));
  EXPECT_NE(tiles.source.find("kw_prepare"), std::string::npos);
  EXPECT_FALSE(kernel_claims(convolution_kernel(square_problem(), {"convolution_tile"}), "convolution_tile"));
}

TEST(ConvolutionStage, PacksWeightsInTheCallWhereNothingElseIsWanted) {
  const Kernel tiles = convolution_kernel(square_problem(), {"convolution_tile", "explicit_vectors"});
  EXPECT_TRUE(kernel_claims(tiles, "convolution_tile"));
  EXPECT_EQ(tiles.source.find("kw_prepare"), std::string::npos);
}

TEST(ConvolutionStage, SavesMultiplicationsOfSmallWindowsWhereItCan) {
  const std::vector<std::string> all{"convolution_tile", "explicit_vectors", "prepack_weights", "winograd"};
  const Kernel small = convolution_kernel(square_problem(), all);
  EXPECT_TRUE(kernel_claims(small, "winograd"));
  EXPECT_NE(small.source.find(".is_wide("), std::string::npos) << "blocks with one large number take the direct form";
  EXPECT_NE(small.source.find("kw_convolution_line<"), std::string::npos);
  EXPECT_FALSE(
      kernel_claims(convolution_kernel(square_problem(), {"convolution_tile", "explicit_vectors", "winograd"}), "winograd"))
      << "weights are transformed once";
  const Shape in{2, 16, 28, 28};
  const auto refused = [&](const Shape& weight, const Shape& out, int stride, int padding, int dilation) {
    const Json more =
        Json::array({list_of({stride, stride}), list_of({padding, padding}), list_of({dilation, dilation}), {{"const", 1}}});
    const Kernel kernel = convolution_kernel(convolution_problem("aten.conv2d.default", in, weight, out, more), all);
    return kernel_claims(kernel, "convolution_tile") && !kernel_claims(kernel, "winograd");
  };
  EXPECT_TRUE(refused({24, 16, 3, 3}, {2, 24, 14, 14}, 2, 1, 1)) << "a stride";
  EXPECT_TRUE(refused({24, 16, 3, 3}, {2, 24, 24, 24}, 1, 0, 2)) << "a dilation";
  EXPECT_TRUE(refused({24, 16, 5, 3}, {2, 24, 24, 26}, 1, 0, 1)) << "a larger window";
  EXPECT_TRUE(refused({4, 16, 3, 3}, {2, 4, 26, 26}, 1, 0, 1)) << "few channels";
}

// Rows that are longer than a panel, as long, shorter, and of one column: a panel then has one row, two, or many.
TEST(ConvolutionPieces, APanelHasTheInputsOfNeighbouringOutputs) {
  constexpr std::int64_t kWidth = 2 * kw_lanes, kChannels = 2, kRows = 7;
  for (const std::int64_t columns : {3 * kWidth + 1, kWidth, kWidth - 3, std::int64_t{5}, std::int64_t{1}}) {
    const std::int64_t pitch = columns + 2, plane = (kRows + 2) * pitch;
    std::vector<float> input(static_cast<std::size_t>(kChannels * plane + kWidth + 64));
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(i);
    const std::int64_t taps[] = {0, 2, pitch + 1, 2 * pitch};
    const std::int64_t pixels = kRows * columns;
    for (std::int64_t first = 0; first < pixels; first += kWidth) {
      std::vector<float> panel(static_cast<std::size_t>((4 * kChannels + 1) * kWidth), -1);
      kw_convolution_panel<kWidth>(input.data(), taps, 4, kChannels, plane, columns, pitch, first, pixels, panel.data());
      for (std::int64_t step = 0; step < 4 * kChannels; ++step)
        for (std::int64_t i = 0; i < kWidth && first + i < pixels; ++i) {
          const std::int64_t at = (first + i) / columns * pitch + (first + i) % columns;
          ASSERT_EQ(panel[static_cast<std::size_t>(step * kWidth + i)], static_cast<float>(step / 4 * plane + taps[step % 4] + at))
              << columns << " columns, output " << first + i << ", step " << step;
        }
    }
  }
}

TEST(ConvolutionStage, PacksPatchesForManyFeatures) {
  const std::vector<std::string> all{"convolution_tile", "explicit_vectors", "prepack_weights", "im2col_pack"};
  const Kernel many = convolution_kernel(square_problem(), all);
  EXPECT_TRUE(kernel_claims(many, "im2col_pack"));
  EXPECT_NE(many.source.find("kw_convolution_panel<"), std::string::npos);
  EXPECT_EQ(many.source.find("kw_convolution_line<"), std::string::npos);
  const Json more = Json::array({list_of({1, 1}), list_of({1, 1}), list_of({1, 1}), {{"const", 1}}});
  const Kernel few =
      convolution_kernel(convolution_problem("aten.conv2d.default", {2, 16, 28, 28}, {8, 16, 3, 3}, {2, 8, 28, 28}, more), all);
  EXPECT_TRUE(kernel_claims(few, "convolution_tile"));
  EXPECT_FALSE(kernel_claims(few, "im2col_pack"));
  std::vector<std::string> both = all;
  both.emplace_back("winograd");
  EXPECT_TRUE(kernel_claims(convolution_kernel(square_problem(), both), "winograd")) << "fewer multiplications come first";
}

TEST(ConvolutionFeatures, SayWhatKindItIs) {
  const auto depthwise = convolution_problem("aten.conv1d.default", {2, 6, 50}, {6, 1, 3}, {2, 6, 24},
                                             Json::array({list_of({2}), list_of({0}), list_of({1}), {{"const", 6}}}));
  const auto of_depthwise = Playbook::read(depthwise, {.threads = 2});
  ASSERT_TRUE(of_depthwise.ok());
  Features features = of_depthwise->features();
  EXPECT_EQ(features["has_convolution"], 1);
  EXPECT_EQ(features["is_depthwise"], 1);
  EXPECT_EQ(features["convolution_stride"], 2);
  EXPECT_EQ(features["convolution_taps"], 3);
  EXPECT_EQ(features["weights_in_convolution"], 1);
  const auto pixels = convolution_problem("aten.conv2d.default", {2, 6, 9, 9}, {8, 6, 1, 1}, {2, 8, 9, 9},
                                          Json::array({list_of({1, 1}), list_of({0, 0}), list_of({1, 1}), {{"const", 1}}}));
  const auto of_pixels = Playbook::read(pixels, {.threads = 2});
  ASSERT_TRUE(of_pixels.ok());
  features = of_pixels->features();
  EXPECT_EQ(features["has_convolution"], 0);
  EXPECT_EQ(features["product_m"], 8);
  EXPECT_EQ(features["product_k"], 6);
}

// A convolution of x, y and z side by side: a line of its input comes from one of them, not from all.
TEST(Convolution, ReadsEachLineFromTheJoinedTensorThatHasIt) {
  ProblemDescription problem = square_problem();
  Json& nodes = problem.graph["nodes"];
  problem.inputs.clear();
  Json parts = Json::array();
  Json joined = Json::array();
  for (const auto& [name, channels] : std::vector<std::pair<std::string, std::int64_t>>{{"x", 4}, {"y", 5}, {"z", 7}}) {
    const Shape shape{2, channels, 28, 28};
    problem.inputs.push_back(argument_of(name, shape, TensorKind::input));
    Json placeholder = nodes[0];
    placeholder["name"] = placeholder["tensor"] = name;
    placeholder["shape"] = shape;
    parts.push_back({{"ref", name}});
    joined.push_back(placeholder);
  }
  joined.push_back(nodes[1]);
  joined.push_back({{"name", "all"},
                    {"op", "aten.cat.default"},
                    {"args", Json::array({{{"list", parts}}, {{"const", 1}}})},
                    {"kwargs", Json::object()},
                    {"shape", Shape{2, 16, 28, 28}},
                    {"dtype", "float32"},
                    {"kind", "call"}});
  Json convolution = nodes[2];
  convolution["name"] = "result";
  convolution["args"][0] = {{"ref", "all"}};
  joined.push_back(convolution);
  problem.graph = {{"nodes", joined}, {"outputs", Json::array({"result"})}};

  const Kernel kernel = convolution_kernel(problem, {"convolution_tile", "explicit_vectors", "fuse_chain", "fuse_prologue"});
  EXPECT_NE(kernel.source.find("kw_load(joined"), std::string::npos) << kernel.source;
  for (const char* load : {"kw_load(x ", "kw_load(y ", "kw_load(z "})
    EXPECT_EQ(kernel.source.find(load), std::string::npos) << load;
}

}  // namespace
}  // namespace kw
