#include "search/assembly.h"

#include <gtest/gtest.h>

#include "search/part_problem.h"
#include "support/small_problems.h"

namespace kw {
namespace {

PartPlan part_plan(const Part& part, double share, std::vector<std::string> standard) {
  return {&part, share, std::move(standard)};
}

Part named_part(const std::string& hash, const std::string& operations) {
  Part part;
  part.hash = hash;
  part.operations = operations;
  return part;
}

Individual judged_as(Verdict verdict) {
  Individual individual;
  individual.verdict = verdict;
  return individual;
}

TEST(Assembly, EndsWithWhatItWasGivenWhereThatPasses) {
  Assembly policy({{{"a", {"fuse_chain"}, {}}}, {{"a", {"parallel_outer"}, {}}}}, {});
  const auto first = policy.ask();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].parts[0].strategies, std::vector<std::string>{"fuse_chain"});
  policy.tell({judged_as(Verdict::passed)});
  EXPECT_EQ(policy.ask().at(0).strategies, std::vector<std::string>{"parallel_outer"});
  policy.tell({judged_as(Verdict::wrong)});
  EXPECT_TRUE(policy.ask().empty());
}

TEST(Assembly, BecomesSimplerUntilOnePassesAndPlainAtLast) {
  Assembly policy({{{"a", {"fuse_chain", "vector_maths"}, {{"KW_MR", "4"}}}}}, {});
  policy.ask();
  policy.tell({judged_as(Verdict::imprecise)});
  const auto simple = policy.ask();
  ASSERT_EQ(simple.size(), 1u);
  EXPECT_EQ(simple[0].parts[0].strategies, std::vector<std::string>{"fuse_chain"});
  EXPECT_TRUE(simple[0].parts[0].knobs.empty());
  policy.tell({judged_as(Verdict::wrong)});
  EXPECT_TRUE(policy.ask().at(0).strategies.empty());
  policy.tell({judged_as(Verdict::wrong)});
  EXPECT_TRUE(policy.ask().empty());
}

TEST(Assembly, LeavesOutWhatRoundsOtherwiseFirst) {
  Assembly policy({{{"a", {"fuse_chain", "winograd"}, {{"KW_MR", "4"}}}, {"b", {"vector_maths"}, {{"KW_MR", "6"}}}}}, {"winograd"});
  policy.ask();
  policy.tell({judged_as(Verdict::imprecise)});
  const auto careful = policy.ask();
  ASSERT_EQ(careful.size(), 1u);
  EXPECT_EQ(careful[0].parts[0].strategies, std::vector<std::string>{"fuse_chain"});
  EXPECT_TRUE(careful[0].parts[0].knobs.empty());
  EXPECT_EQ(careful[0].parts[1].strategies, std::vector<std::string>{"vector_maths"});
  EXPECT_FALSE(careful[0].parts[1].knobs.empty());
  policy.tell({judged_as(Verdict::passed)});
  EXPECT_TRUE(policy.ask().empty());
}

TEST(Assembly, PartsGetTheirShareAndEnoughForAFewKernels) {
  RunOptions whole;
  whole.seconds = 100;
  whole.model = "any";
  EXPECT_DOUBLE_EQ(part_options(whole, 0.5, 60, 0)->seconds, 30);
  EXPECT_DOUBLE_EQ(part_options(whole, 0.01, 60, 0)->seconds, 6);
  EXPECT_TRUE(part_options(whole, 0.5, 60, 0)->model.empty());
  EXPECT_FALSE(part_options(whole, 0.5, 2, 0).has_value());
  whole.seconds = 0;
  whole.evaluations = 20;
  EXPECT_EQ(part_options(whole, 0.5, 0, 12)->evaluations, 6);
  EXPECT_FALSE(part_options(whole, 0.5, 0, 1).has_value());
}

TEST(Assembly, WhatWasNotSearchedDoesAsItsLike) {
  const Part one = named_part("1", "conv2d, relu"), two = named_part("2", "conv2d, relu"), three = named_part("3", "linear");
  const std::vector<PartPlan> plans{part_plan(one, 0.6, {"s1"}), part_plan(two, 0.3, {"s2"}), part_plan(three, 0.1, {"s3"})};
  const std::vector<PartChoice> searched{{"1", {"best"}, {{"KW_MR", "4"}}}};
  EXPECT_EQ(choice_without_search(plans[1], plans, searched).strategies, std::vector<std::string>{"best"});
  EXPECT_TRUE(choice_without_search(plans[1], plans, searched).knobs.empty());
  EXPECT_EQ(choice_without_search(plans[2], plans, searched).strategies, std::vector<std::string>{"s3"});
}

TEST(Assembly, ChoicesSurviveTheArchive) {
  Proposal proposal;
  proposal.parts = {{"abc", {"fuse_chain"}, {{"KW_MR", "4"}}}};
  const auto again = Json(proposal).get<Proposal>();
  ASSERT_EQ(again.parts.size(), 1u);
  EXPECT_EQ(again.parts[0].part, "abc");
  EXPECT_EQ(again.parts[0].knobs.at("KW_MR"), "4");
  EXPECT_FALSE(Json(Proposal{}).contains("parts"));
}

TEST(PartProblem, IsAFileInKernelBenchsForm) {
  Part part = named_part("abc", "linear, relu");
  part.problem = testing::problem_of({testing::tensor("x0", TensorKind::input, {4, 8})},
                                     {testing::tensor("p0", TensorKind::parameter, {3, 8})},
                                     {testing::tensor("out0", TensorKind::output, {4, 3})});
  part.problem.graph = Json::parse(R"({"nodes": [
    {"name": "x0", "kind": "placeholder", "op": "placeholder", "args": [], "kwargs": {}, "shape": [4, 8], "dtype": "float32", "tensor": "x0"},
    {"name": "n0", "kind": "call", "op": "aten.linear.default", "args": [{"ref": "x0"}, {"ref": "p0"}, {"const": null}], "kwargs": {}, "shape": [4, 3], "dtype": "float32"},
    {"name": "n1", "kind": "call", "op": "aten.clamp.default", "args": [{"ref": "n0"}, {"const": 0}, {"float": "inf"}], "kwargs": {"device": {"const": "cpu"}}, "shape": [4, 3], "dtype": "float32"}],
    "outputs": ["n1"]})");
  const std::string text = part_problem_text(part);
  EXPECT_NE(text.find("self.p0 = nn.Parameter(torch.randn([3, 8]) * 0.353553)"), std::string::npos) << text;
  EXPECT_NE(text.find("n0 = torch.ops.aten.linear.default(x0, self.p0, None)"), std::string::npos) << text;
  EXPECT_NE(text.find("n1 = torch.ops.aten.clamp.default(n0, 0, float(\"inf\"))"), std::string::npos) << text;
  EXPECT_NE(text.find("return [torch.randn([4, 8])]"), std::string::npos) << text;
}

}  // namespace
}  // namespace kw
