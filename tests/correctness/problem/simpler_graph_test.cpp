#include "problem/simpler_graph.h"

#include <gtest/gtest.h>

#include "support/temp_home.h"

namespace kw {
namespace {

constexpr const char* kSumsOfExponentials = R"(
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.logaddexp(x, x.sin()), torch.linalg.inv(x)

def get_inputs():
    return [torch.randn(5, 5)]

def get_init_inputs():
    return []
)";

std::set<std::string> operations_of(const ProblemDescription& problem) {
  std::set<std::string> all;
  for (const auto& node : problem.graph.at("nodes")) all.insert(node.at("op").get<std::string>());
  return all;
}

// The operations among `unknown` that a graph has.
auto reader_without(std::set<std::string> unknown) {
  return [unknown = std::move(unknown)](const ProblemDescription& problem) {
    std::set<std::string> met;
    for (const std::string& op : operations_of(problem))
      if (unknown.contains(op)) met.insert(op);
    return met;
  };
}

class SimplerGraph : public ::testing::Test {
 protected:
  ProblemSource source() {
    auto loaded = load_problem(file_, oracle_);
    EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().message);
    return loaded.ok() ? *loaded : ProblemSource{};
  }
  testing::TempHome home_{testing::CacheIs::own};
  OracleClient oracle_{OracleOptions{1, {}, {}}};
  fs::path file_ = home_.write("sums_of_exponentials.py", kSumsOfExponentials);
};

TEST_F(SimplerGraph, WhatIsNotKnownIsTakenApartOnce) {
  ProblemSource first = source();
  const Json whole = first.description.graph;
  simplify_graph(first, oracle_, reader_without({"aten.logaddexp.default"}));
  const auto there = operations_of(first.description);
  EXPECT_FALSE(there.contains("aten.logaddexp.default"));
  EXPECT_TRUE(there.contains("aten.sin.default"));
  EXPECT_EQ(first.description.graph.at("outputs").size(), 2u);

  OracleClient cold{OracleOptions{1, {}, {}}};
  ProblemSource second = source();
  EXPECT_EQ(second.description.graph, whole) << "the description itself stays as it is";
  simplify_graph(second, cold, reader_without({"aten.logaddexp.default"}));
  EXPECT_EQ(cold.generation(), 0) << "no oracle is started for what is known";
  EXPECT_EQ(second.description.graph, first.description.graph);
}

TEST_F(SimplerGraph, WithoutARuleTheGraphStays) {
  ProblemSource problem = source();
  const Json whole = problem.description.graph;
  simplify_graph(problem, oracle_,
                 reader_without({"aten.logaddexp.default", "aten.linalg_inv.default", "aten.linalg_inv_ex.default"}));
  EXPECT_EQ(problem.description.graph, whole);
}

}  // namespace
}  // namespace kw
