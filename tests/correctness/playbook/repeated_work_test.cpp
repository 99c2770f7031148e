#include "playbook/repeated_work.h"

#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/work_limit.h"
#include "playbook/gpu_playbook.h"
#include "playbook/opencl_playbook.h"
#include "playbook/playbook.h"
#include "support/small_problems.h"

namespace kw {
namespace {

using testing::problem_of;
using testing::tensor;

// Writes graphs of one input and one output, both [64, 64], node by node.
class Nodes {
 public:
  std::string call(const std::string& op, const std::string& args, const std::string& shape = "[64, 64]") {
    const std::string name = fmt::format("n{}", ++count_);
    text_ += fmt::format(R"(, {{"name": "{}", "kind": "call", "op": "aten.{}", "args": [{}], "kwargs": {{}}, "shape": {},
                             "dtype": "float32"}})",
                         name, op, args, shape);
    return fmt::format(R"({{"ref": "{}"}})", name);
  }
  std::string add(const std::string& a, const std::string& b) { return call("add.Tensor", a + ", " + b); }
  std::string times(const std::string& a, double number) {
    return call("mul.Tensor", fmt::format(R"({}, {{"const": {}}})", a, number));
  }
  std::string roll(const std::string& a, int shift, int dim) {
    return call("roll.default", fmt::format(R"({}, {{"list": [{{"const": {}}}]}}, {{"list": [{{"const": {}}}]}})", a, shift, dim));
  }
  std::string slice(const std::string& a, int dim, int begin, int end, const std::string& shape) {
    return call("slice.Tensor", fmt::format(R"({}, {{"const": {}}}, {{"const": {}}}, {{"const": {}}})", a, dim, begin, end), shape);
  }
  std::string cat(const std::string& a, const std::string& b, const std::string& shape) {
    return call("cat.default", fmt::format(R"({{"list": [{}, {}]}}, {{"const": 1}})", a, b), shape);
  }

  ProblemDescription problem(const std::string& output) const {
    auto problem = problem_of({tensor("x", TensorKind::input, {64, 64})}, {}, {tensor("out", TensorKind::output, {64, 64})});
    const std::string name = output.substr(9, output.size() - 11);
    problem.graph = Json::parse(
        fmt::format(R"({{"nodes": [{{"name": "x", "kind": "placeholder", "op": "placeholder", "tensor": "x", "shape": [64, 64],
                                    "dtype": "float32"}}{}], "outputs": ["{}"]}})",
                    text_, name));
    return problem;
  }

 private:
  std::string text_;
  int count_ = 0;
};

const std::string kInput = R"({"ref": "x"})";

ProblemDescription repeated(int steps, const std::function<std::string(Nodes&, const std::string&)>& step) {
  Nodes nodes;
  std::string x = kInput;
  for (int i = 0; i < steps; ++i) x = step(nodes, x);
  return nodes.problem(x);
}

// u + 0.1 * (the sum of the four neighbours - 4 * u), around a torus.
std::string heat_by_rolls(Nodes& nodes, const std::string& u) {
  std::string sum = nodes.times(u, -4);
  for (const int dim : {0, 1})
    for (const int shift : {1, -1}) sum = nodes.add(sum, nodes.roll(u, shift, dim));
  return nodes.add(u, nodes.times(sum, 0.1));
}

// The same on a plate with a cold edge.
std::string heat_by_slices(Nodes& nodes, const std::string& u) {
  const std::string padded =
      nodes.call("constant_pad_nd.default",
                 u + R"(, {"list": [{"const": 1}, {"const": 1}, {"const": 1}, {"const": 1}]}, {"const": 0.0})", "[66, 66]");
  const auto part = [&](int row, int column) {
    return nodes.slice(nodes.slice(padded, 0, row, row + 64, "[64, 66]"), 1, column, column + 64, "[64, 64]");
  };
  std::string sum = nodes.times(u, -4);
  for (const auto& [row, column] : {std::pair{0, 1}, {2, 1}, {1, 0}, {1, 2}}) sum = nodes.add(sum, part(row, column));
  return nodes.add(u, nodes.times(sum, 0.1));
}

std::string doubled(Nodes& nodes, const std::string& x) { return nodes.add(x, nodes.roll(x, 3, 1)); }

std::string joined(Nodes& nodes, const std::string& x) {
  const std::string both = nodes.cat(nodes.times(x, 2), nodes.add(x, x), "[64, 128]");
  return nodes.slice(both, 1, 32, 96, "[64, 64]");
}

ProblemDescription fibonacci(int depth) {
  Nodes nodes;
  std::string before = kInput, last = nodes.times(kInput, 0.5);
  for (int i = 0; i < depth; ++i) {
    std::string next = nodes.add(nodes.times(last, 0.6), nodes.roll(before, 1, 0));
    before = std::exchange(last, next);
  }
  return nodes.problem(last);
}

struct Case {
  const char* name;
  std::function<ProblemDescription(int)> make;
  int few, many;
};

std::vector<Case> cases() {
  const auto of = [](auto step) { return [step](int steps) { return repeated(steps, step); }; };
  return {{"heat by rolls", of(heat_by_rolls), 8, 40},
          {"heat by slices", of(heat_by_slices), 8, 40},
          {"doubling", of(doubled), 6, 30},
          {"concatenation", of(joined), 6, 30},
          {"fibonacci", fibonacci, 12, 60}};
}

const std::vector<std::string> kFusing{"fuse_chain",    "fuse_row_passes", "fuse_epilogue", "explicit_vectors",
                                       "parallel_rows", "cl_fuse_kernels", "fuse_kernels",  "fuse_row_kernel",
                                       "vector_load",   "cl_vector_load"};

Result<Kernel> written(const std::string& dsl, const ProblemDescription& problem) {
  if (dsl == "cpp") {
    KW_TRY(const Playbook playbook, Playbook::read(problem, {.threads = 2}));
    return playbook.write(kFusing);
  }
  if (dsl == "opencl") {
    KW_TRY(const OpenClPlaybook playbook, OpenClPlaybook::read(problem, {.threads = 2}));
    return playbook.write(kFusing);
  }
  KW_TRY(const GpuPlaybook playbook, GpuPlaybook::read(problem, {}, dsl));
  return playbook.write(kFusing);
}

class RepeatedWorkIn : public ::testing::TestWithParam<const char*> {};

TEST_P(RepeatedWorkIn, TheTextGrowsWithTheStepsAndNotByTheirPower) {
  for (const Case& each : cases()) {
    SCOPED_TRACE(each.name);
    const auto few = written(GetParam(), each.make(each.few));
    ASSERT_TRUE(few) << few.error().message;
    const auto many = written(GetParam(), each.make(each.many));
    ASSERT_TRUE(many) << many.error().message;
    EXPECT_LT(many->source.size(), 12 * few->source.size()) << "five times as many steps";
  }
}

TEST_P(RepeatedWorkIn, WritingEndsWhenTheTimeIsUp) {
  const auto problem = repeated(40, heat_by_rolls);
  const WorkLimit limit(WorkLimit::Clock::now());
  const auto ended = written(GetParam(), problem);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind, ErrorKind::stopped);
}

INSTANTIATE_TEST_SUITE_P(EveryLanguage, RepeatedWorkIn, ::testing::Values("cpp", "cuda-c", "cute", "triton", "tilelang", "opencl"),
                         [](const auto& language) {
                           std::string name = language.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(RepeatedWork, CountsWhatIsReadAtOtherPositionsAgain) {
  Graph graph;
  const ValueId x = graph.add({.kind = ValueKind::argument, .shape = {16}, .strides = {1}, .name = "x"});
  const ValueId exp = graph.pointwise("exp", {x});
  const ValueId sum = graph.pointwise("add", {graph.slice(exp, 0, 0, 15), graph.slice(exp, 0, 1, 15)});
  const RepeatedWork work = repeated_work(graph, sum, [](ValueId) { return false; });
  EXPECT_EQ(work.again.size(), 1U);
  EXPECT_EQ(work.again.at(exp), 1);
  EXPECT_EQ(repeated_work(graph, sum, [&](ValueId id) { return id == exp; }).repeated, 0);
}

TEST(RepeatedWork, TheSamePositionIsComputedOnce) {
  Graph graph;
  const ValueId x = graph.add({.kind = ValueKind::argument, .shape = {16}, .strides = {1}, .name = "x"});
  const ValueId exp = graph.pointwise("exp", {x});
  const ValueId twice = graph.pointwise("mul", {exp, graph.pointwise("add", {exp, exp})});
  EXPECT_EQ(repeated_work(graph, twice, [](ValueId) { return false; }).repeated, 0);
}

}  // namespace
}  // namespace kw
