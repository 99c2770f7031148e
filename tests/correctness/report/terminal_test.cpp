#include "report/terminal.h"

#include <gtest/gtest.h>

#include "support/small_problems.h"

namespace kw {
namespace {

const Paint kPlain{false};
bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

VerdictRecord verdict(Verdict value) {
  VerdictRecord record;
  record.verdict = value;
  record.sandbox = "bubblewrap";
  record.checks = {{"given", "given", 1, 2, true, {{"out", 1e-6, 2e-6, 0, 0, 0.25, 0, 10}}},
                   {"mixed", "given", 2, 2, true, {{"out", 3e-5, 1e-5, 0, 0, 0.75, 0, 10}}}};
  record.repeat = "kernelwright verify p.py k.cpp --seed 5";
  return record;
}

TEST(Terminal, ColoursOnlyWhereAPersonLooks) {
  EXPECT_EQ(kPlain.good("passed"), "passed");
  EXPECT_EQ(text_of(verdict(Verdict::passed), kPlain).find('\x1b'), std::string::npos);
  EXPECT_EQ(Paint{true}.good("x"), "\x1b[32;1mx\x1b[0m");
  EXPECT_NE(text_of(verdict(Verdict::passed), Paint{true}).find("\x1b[32;1mpassed"), std::string::npos);
}

TEST(Terminal, APassedVerdictShowsTheWorstCheckAndHowToRepeatIt) {
  const std::string text = text_of(verdict(Verdict::passed), kPlain);
  EXPECT_EQ(text.rfind("passed  2 of 2 checks, precision float32, sandbox bubblewrap\n", 0), 0u) << text;
  EXPECT_TRUE(says(text, "mixed")) << text;
  EXPECT_TRUE(says(text, "3.00e-05")) << text;
  EXPECT_TRUE(says(text, "75%")) << text;
  EXPECT_FALSE(says(text, "hint"));
  EXPECT_TRUE(says(text, "--seed 5"));
}

TEST(Terminal, AFailureShowsItsWholeDiagnosis) {
  auto record = verdict(Verdict::wrong);
  record.checks[1].passed = false;
  record.checks[1].outputs[0].worst_of_tolerance = 0.1;
  record.diagnosis = {"compare", "the tail is wrong", "out[3, 8..9]", {"line one", "line two"}, "check the remainder", "tail"};
  const std::string text = text_of(record, kPlain);
  EXPECT_EQ(text.rfind("wrong  1 of 2 checks", 0), 0u) << text;
  for (const char* part : {"compare", "the tail is wrong", "out[3, 8..9]", "line one", "line two", "check the remainder"})
    EXPECT_TRUE(says(text, part)) << part;
  EXPECT_TRUE(says(text, "mixed")) << "the failed check is shown, not the one nearest to the tolerance";
}

TEST(Terminal, AFailureBeforeAnyCheckHasNoTable) {
  VerdictRecord record;
  record.verdict = Verdict::compile_failed;
  record.sandbox = "landlock";
  record.diagnosis.summary = "expected ';'";
  const std::string text = text_of(record, kPlain);
  EXPECT_FALSE(says(text, "eager's own"));
  EXPECT_FALSE(says(text, "checks"));
  EXPECT_FALSE(says(text, "where"));
}

TEST(Terminal, NoSandboxIsCalledUnsafe) {
  auto record = verdict(Verdict::passed);
  record.sandbox = "none";
  EXPECT_TRUE(says(text_of(record, kPlain), "none (unsafe)"));
}

TEST(Terminal, TimingShowsIntervalsAndPrepareOnlyWhereThereIsOne) {
  TimingRecord timing;
  timing.comparisons = {{"eager", 3e-3, 2e-3, 1.5, {1.4, 1.6}, 12, 200}, {"compile", 1e-3, 2e-3, 0.5, {0.45, 0.55}, 12, 200}};
  timing.seconds = 2e-3;
  timing.share_of_ceiling = 0.42;
  timing.zone = "memory";
  timing.threads = 2;
  const std::string text = text_of(timing, kPlain);
  for (const char* part : {"vs eager", "1.50x", "(1.40 to 1.60, 95%)", "2.00 ms against 3.00 ms", "12 pairs", "0.50x",
                           "42% of the roofline's ceiling"})
    EXPECT_TRUE(says(text, part)) << part << " in\n" << text;
  EXPECT_FALSE(says(text, "prepare"));
  EXPECT_FALSE(says(text, "GFLOP/s"));
  timing.prepare_seconds = 0.5;
  timing.prepare_bytes = 2e6;
  EXPECT_TRUE(says(text_of(timing, kPlain), "500 ms once per weights, holds 2.00 MB"));
  EXPECT_FALSE(says(text_of(timing, kPlain), "scratch"));
  timing.memory_bytes = 3e6;
  EXPECT_TRUE(says(text_of(timing, kPlain), "3.00 MB for outputs and scratch\n"));
  timing.eager_bytes = 5e6;
  EXPECT_TRUE(says(text_of(timing, kPlain), "3.00 MB for outputs and scratch; eager's values take 5.00 MB\n"));
}

TEST(Terminal, TheCeilingIsExplainedWhereItPuzzles) {
  TimingRecord timing;
  timing.comparisons = {{"eager", 3e-3, 2e-3, 0.8, {0.7, 0.9}, 12, 200}};
  timing.share_of_ceiling = 0.4;
  EXPECT_TRUE(says(text_of(timing, kPlain), "eager is faster: it reaches 50% of the ceiling"));
  EXPECT_FALSE(says(text_of(timing, kPlain), "fewer"));
  timing.comparisons[0].interval = {0.7, 1.1};  // for all one knows it is not
  timing.share_of_ceiling = 13.31;
  EXPECT_FALSE(says(text_of(timing, kPlain), "eager is faster"));
  EXPECT_TRUE(says(text_of(timing, kPlain), "gets by with fewer"));
}

TEST(Terminal, OnlyAnIntervalAwayFromOneIsPainted) {
  TimingRecord timing;
  timing.comparisons = {{"eager", 1, 1, 1.02, {0.97, 1.07}, 12, 200}};
  EXPECT_EQ(text_of(timing, Paint{true}).find("\x1b[3"), std::string::npos);
  timing.comparisons[0].interval = {1.01, 1.03};
  EXPECT_TRUE(says(text_of(timing, Paint{true}), "\x1b[32;1m1.02x"));
  timing.comparisons[0].interval = {0.8, 0.9};
  EXPECT_TRUE(says(text_of(timing, Paint{true}), "\x1b[31;1m"));
}

TEST(Terminal, AProblemIsDescribedWithEverythingAKernelNeeds) {
  auto problem = testing::problem_of({testing::tensor("x", TensorKind::input, {4, 6}), testing::scalar("eps", DType::f64, 0.5)}, {},
                                     {testing::tensor("out", TensorKind::output, {})});
  problem.inputs[0].strides = {1, 4};
  problem.flops = 5e9;
  problem.bytes = 4e6;
  problem.graph = {{"nodes", {{{"kind", "call"}, {"op", "aten.mul.Tensor"}}, {{"kind", "call"}, {"op", "aten.sum.default"}}}}};
  Machine machine;
  machine.cpu_model = "A CPU";
  Roofline roofline;
  roofline.floor_seconds = 1e-3;
  const std::string text = text_of(problem, {"reduction", {"pointwise"}}, machine, roofline, 2, "the declaration", kPlain);
  for (const char* part : {"float32[4, 6] strides (1, 4)", "float64 = 0.5", "float32[]", "mul -> sum", "reduction + pointwise",
                           "5.00 GFLOP", "1.00 ms", "A CPU", "2 threads", "the declaration"})
    EXPECT_TRUE(says(text, part)) << part << " in\n" << text;
  EXPECT_FALSE(says(text, "parameters"));
}

TEST(Terminal, AnInsensitiveProblemAndAMissingGraphAreSaid) {
  auto problem = testing::vector_problem(4);
  problem.graph = nullptr;
  problem.graph_error = "forward() branches on its data";
  problem.sensitivity = {0, 0, 0, false, "any constant passes"};
  const std::string text = text_of(problem, {"unknown", {}}, Machine{}, Roofline{}, 1, "d", kPlain);
  for (const char* part : {"forward() branches on its data", "mean little", "any constant passes", "FLOPs unknown", "1 thread:"})
    EXPECT_TRUE(says(text, part)) << part;
}

TEST(Terminal, LongListsAreCut) {
  auto problem = testing::vector_problem(4);
  problem.graph = nullptr;
  for (int i = 0; i < 30; ++i) problem.parameters.push_back(testing::tensor("w" + std::to_string(i), TensorKind::parameter, {2}));
  const std::string text = text_of(problem, {"unknown", {}}, Machine{}, Roofline{}, 1, "d", kPlain);
  EXPECT_TRUE(says(text, "... and 18 more"));
  EXPECT_FALSE(says(text, "w12 "));
}

}  // namespace
}  // namespace kw
