#include "playbook/split.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "playbook/playbook.h"
#include "support/small_problems.h"

namespace kw {
namespace {

using testing::problem_of;
using testing::tensor;

Json node_ref(const std::string& name) { return {{"ref", name}}; }

// A net as its graph: layers of linear and ReLU, as many as widths, on 4 rows.
struct LayeredNet {
  Json nodes = Json::array();
  std::vector<TensorSpec> inputs, parameters;

  void placeholder(const TensorSpec& spec) {
    nodes.push_back({{"name", spec.name},
                     {"kind", "placeholder"},
                     {"op", "placeholder"},
                     {"tensor", spec.name},
                     {"shape", spec.shape},
                     {"dtype", "float32"},
                     {"args", Json::array()},
                     {"kwargs", Json::object()}});
    (spec.kind == TensorKind::input ? inputs : parameters).push_back(spec);
  }

  std::string call(const std::string& name, const std::string& op, Json args, const std::vector<std::int64_t>& shape) {
    nodes.push_back({{"name", name},
                     {"kind", "call"},
                     {"op", op},
                     {"args", std::move(args)},
                     {"kwargs", Json::object()},
                     {"shape", shape},
                     {"dtype", "float32"}});
    return name;
  }

  // relu(x @ weight.T)
  std::string layer(const std::string& name, const std::string& x, std::int64_t in, std::int64_t out) {
    placeholder(tensor(name + "_weight", TensorKind::parameter, {out, in}));
    const std::string product =
        call(name, "aten.linear.default", {node_ref(x), node_ref(name + "_weight"), {{"const", nullptr}}}, {4, out});
    return call(name + "_relu", "aten.relu.default", Json::array({node_ref(product)}), {4, out});
  }

  ProblemDescription problem(const std::string& output, const std::vector<std::int64_t>& shape) {
    auto made = problem_of(inputs, parameters, {tensor("out", TensorKind::output, shape)});
    made.graph = {{"nodes", nodes}, {"outputs", {output}}};
    return made;
  }
};

ProblemDescription stack_of_layers(const std::vector<std::int64_t>& widths) {
  LayeredNet net;
  net.placeholder(tensor("x", TensorKind::input, {4, widths[0]}));
  std::string at = "x";
  for (std::size_t i = 1; i < widths.size(); ++i) at = net.layer("layer" + std::to_string(i), at, widths[i - 1], widths[i]);
  return net.problem(at, {4, widths.back()});
}

TEST(Split, EqualLayersAreOnePart) {
  const Split split = split_problem(stack_of_layers({16, 8, 8, 8, 8, 3}));
  ASSERT_EQ(split.places.size(), 5u);
  ASSERT_EQ(split.parts.size(), 3u);
  EXPECT_EQ(split.parts[0].places, 1);
  EXPECT_EQ(split.parts[1].places, 3);
  EXPECT_EQ(split.parts[2].places, 1);
  EXPECT_EQ(split.parts[1].operations, "linear, relu");
  EXPECT_EQ(split.parts[1].problem.flops, 2 * 4 * 8 * 8 + 4 * 8);
  // Each place has its own weights, and reads what the one before it wrote.
  EXPECT_EQ(split.places[2].parameters.at(0).tensor, "layer3_weight");
  EXPECT_EQ(split.places[2].inputs.at(0).node, split.places[1].outputs.at(0).node);
  EXPECT_EQ(split.places[0].inputs.at(0).tensor, "x");
  EXPECT_EQ(split.places[4].outputs.at(0).tensor, "out");
}

TEST(Split, HashesAreOfWhatIsComputedAndNotOfNames) {
  const Split one = split_problem(stack_of_layers({16, 8, 8, 8, 8}));
  LayeredNet other;
  other.placeholder(tensor("picture", TensorKind::input, {4, 16}));
  std::string at = "picture";
  for (const char* name : {"a", "b", "c", "d"}) at = other.layer(name, at, at == "picture" ? 16 : 8, 8);
  const Split two = split_problem(other.problem(at, {4, 8}));
  ASSERT_EQ(one.parts.size(), two.parts.size());
  for (std::size_t i = 0; i < one.parts.size(); ++i) EXPECT_EQ(one.parts[i].hash, two.parts[i].hash);
  // Another width, and another operation behind the same product, are other parts.
  const Split wider = split_problem(stack_of_layers({16, 8, 9, 9, 8}));
  for (const Part& part : wider.parts)
    if (part.problem.inputs[0].shape != one.parts[0].problem.inputs[0].shape) {
      EXPECT_TRUE(std::ranges::none_of(one.parts, [&](const Part& known) { return known.hash == part.hash; }));
    }
}

TEST(Split, AnOutputLiesAsTheProblemHasItWhoeverReadsIt) {
  LayeredNet net;
  net.placeholder(tensor("x", TensorKind::input, {4, 8}));
  std::string at = "x", kept;
  for (const std::string name : {"a", "b", "c", "d", "e"}) {
    at = net.layer(name, at, 8, 8);
    if (name == "b") kept = at;
  }
  auto problem = net.problem(at, {4, 8});
  problem.outputs.push_back(tensor("kept", TensorKind::output, {4, 8}));
  problem.outputs[1].strides = {1, 4};
  problem.graph["outputs"].push_back(kept);
  const Split split = split_problem(problem);
  ASSERT_EQ(split.places.size(), 5u);
  const auto part = [&](std::size_t place) { return split.parts[split.places[place].part].problem; };
  const std::vector<std::int64_t> turned{1, 4}, dense{8, 1};
  EXPECT_EQ(part(1).outputs.at(0).strides, turned);
  EXPECT_EQ(part(2).inputs.at(0).strides, turned);
  EXPECT_EQ(part(2).outputs.at(0).strides, dense);
  EXPECT_EQ(part(3).inputs.at(0).strides, dense);
  // The same operations with another layout are another part.
  EXPECT_NE(split.places[0].part, split.places[1].part);
  EXPECT_EQ(split.places[0].part, split.places[3].part);
}

TEST(Split, FewLayersStayWhole) {
  EXPECT_TRUE(split_problem(stack_of_layers({16, 8, 8, 3})).places.empty());
  EXPECT_TRUE(split_problem(stack_of_layers({16, 3})).places.empty());
}

TEST(Split, ScoresAndWhatTheyWeighStayTogether) {
  LayeredNet net;
  net.placeholder(tensor("x", TensorKind::input, {4, 8}));
  const std::string q = net.layer("q", "x", 8, 8), k = net.layer("k", "x", 8, 8), v = net.layer("v", "x", 8, 8);
  net.call("turned", "aten.t.default", Json::array({node_ref(k)}), {8, 4});
  net.call("scores", "aten.mm.default", {node_ref(q), node_ref("turned")}, {4, 4});
  net.call("weights", "aten.softmax.int", {node_ref("scores"), {{"const", -1}}, {{"const", nullptr}}}, {4, 4});
  net.call("mixed", "aten.mm.default", {node_ref("weights"), node_ref(v)}, {4, 8});
  const std::string out = net.layer("proj", "mixed", 8, 8);
  const Split split = split_problem(net.problem(out, {4, 8}));
  ASSERT_EQ(split.places.size(), 5u);
  // Three projections are one part; of the attention only what it mixes leaves it.
  EXPECT_EQ(split.places[0].part, split.places[1].part);
  EXPECT_EQ(split.parts[split.places[3].part].operations, "mm, softmax, mm");
  EXPECT_EQ(split.places[3].inputs.size(), 3u);
  ASSERT_EQ(split.places[3].outputs.size(), 1u);
  EXPECT_EQ(split.places[3].outputs[0].node, "mixed");
}

TEST(Split, StepsOfAnInputAreItsPlaces) {
  LayeredNet net;
  net.placeholder(tensor("x", TensorKind::input, {5, 4, 8}));
  net.placeholder(tensor("w", TensorKind::parameter, {8, 8}));
  std::string state;
  for (int step = 0; step < 5; ++step) {
    const std::string n = std::to_string(step);
    std::string at = net.call("x" + n, "aten.select.int", {node_ref("x"), {{"const", 0}}, {{"const", step}}}, {4, 8});
    if (!state.empty()) at = net.call("sum" + n, "aten.add.Tensor", {node_ref(at), node_ref(state)}, {4, 8});
    state = net.call("state" + n, "aten.linear.default", {node_ref(at), node_ref("w"), {{"const", nullptr}}}, {4, 8});
  }
  const Split split = split_problem(net.problem(state, {4, 8}));
  ASSERT_EQ(split.places.size(), 5u);
  EXPECT_EQ(split.places[2].part, split.places[3].part);
  const auto of_x = std::ranges::find(split.places[3].inputs, "x", &Operand::tensor);
  ASSERT_NE(of_x, split.places[3].inputs.end());
  EXPECT_EQ(of_x->offset % (4 * 8), 0);
  EXPECT_GT(of_x->offset, 0);
}

TEST(Split, MemoryIsUsedAgainAndNoValueIsOverwrittenWhileItIsRead) {
  LayeredNet net;
  net.placeholder(tensor("x", TensorKind::input, {4, 8}));
  const std::string kept = net.layer("first", "x", 8, 64);
  std::string at = net.layer("down", kept, 64, 64);
  for (int i = 0; i < 6; ++i) at = net.layer("more" + std::to_string(i), at, 64, 64);
  net.call("joined", "aten.add.Tensor", {node_ref(at), node_ref(kept)}, {4, 64});
  const std::string out = net.layer("last", "joined", 64, 8);
  const Split split = split_problem(net.problem(out, {4, 8}));
  const BetweenPlaces between = place_values(split);
  EXPECT_LE(between.bytes, 3 * 4 * 64 * 4);  // what is kept, what is read, what is written
  EXPECT_LE(between.bytes, split.eager_bytes);
  const auto at_of = [&](const std::string& node) { return *std::ranges::find(between.values, node, &PlacedValue::node); };
  const PlacedValue first = at_of(kept);
  for (const PlacedValue& value : between.values)
    if (value.node != kept) {
      EXPECT_TRUE(value.offset >= first.offset + first.bytes || value.offset + value.bytes <= first.offset) << value.node;
    }
}

TEST(Split, APartIsWrittenOnceAndCalledAtEachPlace) {
  auto playbook = Playbook::read(stack_of_layers({16, 8, 8, 8, 8, 3}), {.threads = 2});
  ASSERT_TRUE(playbook.ok()) << playbook.error().message;
  const auto kernel = playbook->write({"parallel_outer", "explicit_vectors", "register_tile", "prepack_weights"});
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto count = [&](const std::string& part) {
    int found = 0;
    for (auto at = kernel->source.find(part); at != std::string::npos; at = kernel->source.find(part, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("static void run("), 3);
  EXPECT_EQ(count("part1::run("), 3);
  EXPECT_TRUE(kernel->knobs.empty());
}

TEST(Split, EveryPartIsComputedAsChosenForIt) {
  auto playbook = Playbook::read(stack_of_layers({64, 64, 64, 64, 64, 128}), {.threads = 2});
  ASSERT_TRUE(playbook.ok()) << playbook.error().message;
  const Split& split = playbook->split();
  ASSERT_EQ(split.parts.size(), 2u);
  const std::vector<std::string> tiled{"explicit_vectors", "fuse_chain", "fuse_epilogue", "register_tile"};
  const auto kernel = playbook->assemble({{split.parts[1].hash, tiled, {{"KW_MR", "2"}}}});
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto first = kernel->source.find("namespace part0 {"), second = kernel->source.find("namespace part1 {");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(kernel->source.substr(first, second - first).find("KW_MR"), std::string::npos);
  EXPECT_NE(kernel->source.substr(second).find("#define KW_MR 2\n"), std::string::npos);
}

}  // namespace
}  // namespace kw
