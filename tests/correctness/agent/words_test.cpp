// Prompts that fit, similarity in numbers, edits, knobs, and what the library of advice and examples holds.
#include <gtest/gtest.h>

#include "agent/brief.h"
#include "agent/conductor.h"
#include "agent/cpp_shape.h"
#include "agent/edits.h"
#include "agent/library.h"
#include "agent/similarity.h"
#include "agent/translator.h"
#include "support/small_problems.h"
#include "support/tests_folder.h"

namespace kw {
namespace {

fs::path project_root() { return kw::testing::tests_folder().parent_path(); }

const Library& library() {
  static const Library loaded = [] {
    auto read = Library::load(project_root());
    if (!read) throw std::runtime_error(read.error().message);
    return std::move(*read);
  }();
  return loaded;
}

TEST(PromptTest, FillsAndLeavesOutTheLeastImportantFirst) {
  const auto made = PromptTemplate::parse(
      "for readers\n== system\nbe good\n== user\n== section task keep\ndo {{what}}\n== section more 20\nM{{long}}\n== section most "
      "50\nN{{long}}\n"
      "== section none 90\nnever {{nothing}}\n",
      "test");
  ASSERT_TRUE(made.ok()) << made.error().message;
  const PromptValues values{{"what", "it {{long}}"}, {"long", std::string(310, 'x')}, {"nothing", ""}};
  const auto all = made->fill(values, 1000);
  ASSERT_TRUE(all.ok());
  EXPECT_TRUE(all->left_out.empty());
  EXPECT_EQ(all->messages.size(), 2U);
  EXPECT_EQ(all->messages[0].content, "be good");
  EXPECT_NE(all->messages[1].content.find("do it {{long}}"), std::string::npos) << "values are no templates";
  EXPECT_EQ(all->messages[1].content.find("never"), std::string::npos);
  const auto less = made->fill(values, all->tokens - 50);
  ASSERT_TRUE(less.ok());
  EXPECT_EQ(less->left_out, std::vector<std::string>{"more"});
  EXPECT_NE(less->messages[1].content.find("[left out to fit: more]"), std::string::npos);
  EXPECT_NE(less->messages[1].content.find("Nxxx"), std::string::npos);
  EXPECT_LE(less->tokens, all->tokens - 50);
  EXPECT_EQ(made->fill(values, 60)->left_out, (std::vector<std::string>{"more", "most"}));
  EXPECT_FALSE(made->fill(values, 10).ok());
  EXPECT_FALSE(made->fill({}, 1000).ok()) << "a value that nobody gave";
}

TEST(PromptTest, AnExampleThatIsLeftOutTakesItsTurnsWithIt) {
  const auto made = PromptTemplate::parse(
      "== user\n== section example 20\nQ{{long}}\n== assistant\n== section example 20\nA\n== user\n== section task "
      "keep\n{{what}}\n",
      "test");
  ASSERT_TRUE(made.ok()) << made.error().message;
  const PromptValues values{{"what", "do it"}, {"long", std::string(310, 'x')}};
  const auto all = made->fill(values, 1000), less = made->fill(values, 60);
  ASSERT_TRUE(all.ok() && less.ok());
  ASSERT_EQ(all->messages.size(), 3U);
  EXPECT_EQ(all->messages[1].role, "assistant");
  ASSERT_EQ(less->messages.size(), 1U);
  EXPECT_EQ(less->messages[0].content, "do it");
  EXPECT_EQ(less->left_out, std::vector<std::string>{"example"});
}

TEST(PromptTest, WhatOthersWroteCannotEndItsQuotation) {
  EXPECT_EQ(quoted_code("a ``` b\n", "cpp"), "````cpp\na ``` b\n````");
  EXPECT_EQ(quoted_lines("one\x1b[31m\ntwo"), "> one[31m\n> two");
  EXPECT_NE(quoted_lines(std::string(9000, 'a')).find("[clipped]"), std::string::npos);
  EXPECT_GE(estimated_tokens(std::string(310, 'a')), 100);
}

TEST(SimilarityTest, NumbersForWordsThatAreAlike) {
  EXPECT_DOUBLE_EQ(jaccard({"a", "b", "c"}, {"b", "c", "d"}), 0.5);
  EXPECT_DOUBLE_EQ(jaccard({}, {"a"}), 0);
  EXPECT_EQ(telling_words("Keep the tiles in Registers, using KW_MR"),
            (std::vector<std::string>{"keep", "tile", "register", "kw", "mr"}));
  EXPECT_EQ(shingles("process two rows").size(), 5U);
  Strategy one;
  one.name = "process four rows at a time";
  one.lever = "unroll";
  one.why = "Each load of the weights is shared by four rows.";
  Strategy same = one;
  same.name = "process four rows at once";
  same.why = "Weights are loaded once for four rows.";
  EXPECT_GE(similarity(one, same), kNearRepeat);
  Strategy other;
  other.name = "stream the output past the caches";
  other.lever = "stream_stores";
  other.why = "The output is not read again, so its lines need not be fetched.";
  EXPECT_LT(similarity(one, other), 0.1);
  Strategy related = one;
  related.name = "process four columns in vectors";
  related.lever = "vectorise";
  related.why = "Columns are contiguous.";
  EXPECT_LT(similarity(one, related), kNearRepeat);
  EXPECT_DOUBLE_EQ(similarity(one, one), 1);
  Strategy elsewhere = one;
  elsewhere.target = "gpu";
  EXPECT_DOUBLE_EQ(similarity(one, elsewhere), 0);
  same.id = "same";
  other.id = "other";
  EXPECT_EQ(nearest_of(one, {other, same}).id, "same");
  EXPECT_EQ(nearest_of(one, {}).id, "");
}

TEST(SimilarityTest, TheProjectsOwnStrategiesAreDifferentIdeas) {
  const auto pool = StrategyPool::load(project_root() / "knowledge" / "strategies");
  ASSERT_TRUE(pool.ok());
  int close = 0;
  for (std::size_t a = 0; a < pool->all().size(); ++a)
    for (std::size_t b = a + 1; b < pool->all().size(); ++b)
      if (similarity(pool->all()[a], pool->all()[b]) >= kNearRepeat) ++close;
  EXPECT_LE(close, 2) << "the threshold would refuse what people hold apart";
}

TEST(EditTest, FindsWhatIsMeant) {
  const std::string source = "int a;  \nint b;\nint c;\n";
  EXPECT_EQ(apply_edits(source, {{"int b;", "int d;"}}).source, "int a;  \nint d;\nint c;\n");
  EXPECT_EQ(apply_edits(source, {{"int a;\nint b;", "int x;"}}).source, "int x;\nint c;\n") << "blanks at the ends of lines";
  EXPECT_EQ(apply_edits(source, {{"   2| int b;", "   2| int e;"}}).source, "int a;  \nint e;\nint c;\n") << "copied line numbers";
  EXPECT_EQ(apply_edits(source, {{"int b;\n", ""}}).source, "int a;  \nint c;\n");
}

TEST(CppShapeTest, KnobsThatCanBeTurned) {
  const std::string source =
      "// kw:knob KW_TILE 16 32 64\n#ifndef KW_TILE\n#define KW_TILE 32\n#endif\n// kw:knob KW_BARE 1 2\n#define KW_BARE 1\n"
      "// kw:knob KW_OFF 1 2\n#ifndef KW_OFF\n#define KW_OFF 3\n#endif\n// kw:knob NAME 1 2\n";
  const auto knobs = knobs_of(source);
  ASSERT_EQ(knobs.size(), 1U) << "without a guard, with a default that is no value, or without the prefix it is none";
  EXPECT_EQ(knobs[0].name, "KW_TILE");
  EXPECT_EQ(knobs[0].standard, 32);
  EXPECT_EQ(knobs[0].values, (std::vector<std::int64_t>{16, 32, 64}));
}

TEST(CppShapeTest, CommentsAndLiteralsAreNoCode) {
  EXPECT_EQ(code_without_comments("a // b\nc /* d\ne */ f \"}{\" '}' 1'000"), "a     \nc     \n     f \"  \" ' ' 1'000");
  EXPECT_TRUE(braces_balance("void f() { if (a) { } } // }"));
  EXPECT_FALSE(braces_balance("void f() { if (a) { }"));
  EXPECT_FALSE(defines_function("void kw_kernel(int a);\nint my_kw_kernel(int a) { return a; }", "kw_kernel"));
  EXPECT_EQ(with_line_numbers("a\nb\n"), "   1| a\n   2| b\n");
}

TEST(LibraryTest, EveryClassHasAdviceAndEveryZoneGuidance) {
  for (const std::string_view name : workload_classes()) {
    EXPECT_FALSE(library().advice(std::string(name), true).empty()) << name;
    EXPECT_GT(library().advice(std::string(name), false).size(), library().advice(std::string(name), true).size()) << name;
  }
  for (const std::string_view zone : zones()) EXPECT_FALSE(library().zone_guidance(std::string(zone)).empty()) << zone;
  EXPECT_FALSE(library().guide(true).empty());
}

TEST(LibraryTest, TheExampleIsTheMostSimilarOne) {
  EXPECT_EQ(library().example("softmax", {}).name, "softmax.cpp");
  EXPECT_EQ(library()
                .example("matmul + pointwise", {{"has_product", 1}, {"product_m", 256}, {"product_n", 256}, {"product_k", 256}})
                .name,
            "matmul.cpp");
  EXPECT_EQ(library()
                .example("matmul", {{"has_product", 1},
                                    {"product_m", 64},
                                    {"product_n", 192},
                                    {"product_k", 256},
                                    {"product_epilogue_ops", 2},
                                    {"weights_in_product", 1}})
                .name,
            "linear_relu.cpp");
  EXPECT_EQ(advice_class(library().example("gather", {}).workload_class), "pointwise");
  for (const WorkedExample& example : library().examples()) {
    EXPECT_FALSE(signature_problem(example.source, example.declaration)) << example.name;
    EXPECT_LT(estimated_tokens(example.source), 900) << example.name << " must fit a short context";
  }
}

TEST(LibraryTest, SmallModelsSeeTwoPlainExamplesWhateverTheMachine) {
  const auto [form, near] = library().plain_examples("softmax", {});
  EXPECT_EQ(near->name, "softmax.cpp");
  EXPECT_NE(form, near);
  for (const char* name : {"pointwise", "reduction", "matmul", "scan", "loss", "normalisation"}) {
    const auto [first, second] = library().plain_examples(name, {});
    EXPECT_EQ(first, form) << "what a server has read once";
    EXPECT_EQ(second->workload_class, name);
  }
  const Features problem{{"has_product", 1}, {"product_m", 64}, {"product_n", 192}, {"product_k", 256}};
  Features with_machine = problem;
  for (const auto& [name, value] : Features{{"threads", 64}, {"l2_bytes", 4e6}, {"vector_lanes", 16}}) with_machine[name] = value;
  EXPECT_EQ(&library().example("matmul", problem), &library().example("matmul", with_machine));
  for (const WorkedExample& example : library().examples()) {
    if (example.plain_source.empty()) continue;
    EXPECT_FALSE(signature_problem(example.plain_source, example.declaration)) << example.name;
    EXPECT_FALSE(example.module.empty() || example.operations.empty() || example.tensors.empty()) << example.name;
    EXPECT_LT(estimated_tokens(example.plain_source + example.module + example.operations + example.tensors), 900) << example.name;
  }
}

Json call(const std::string& name, const std::string& op, Json arguments, std::vector<std::int64_t> shape) {
  return {{"kind", "call"},    {"name", name}, {"op", op}, {"args", std::move(arguments)}, {"shape", std::move(shape)},
          {"dtype", "float32"}};
}
Json ref(const std::string& name) { return {{"ref", name}}; }

TEST(PlainWordsTest, OperationsAndIndicesInWords) {
  using testing::tensor;
  ProblemDescription problem =
      testing::problem_of({tensor("a", TensorKind::input, {96, 112}), tensor("b", TensorKind::input, {80, 112}),
                           tensor("x", TensorKind::input, {4, 3, 7})},
                          {}, {tensor("out", TensorKind::output, {96, 80})});
  Json nodes = Json::array();
  for (const TensorSpec& input : problem.inputs)
    nodes.push_back({{"kind", "placeholder"}, {"name", input.name}, {"shape", input.shape}});
  nodes.push_back(call("turned", "aten.numpy_T.default", {ref("b")}, {112, 80}));
  nodes.push_back(call("matmul", "aten.matmul.default", {ref("a"), ref("turned")}, {96, 80}));
  nodes.push_back(call("sigmoid", "aten.sigmoid.default", {ref("matmul")}, {96, 80}));
  nodes.push_back(call("soft", "aten.softmax.int", {ref("x"), {{"const", -1}}}, {4, 3, 7}));
  nodes.push_back(call("sum_1", "aten.sum.dim_IntList", {ref("x"), {{"list", {{{"const", 0}}}}}}, {3, 7}));
  nodes.push_back(call("all", "aten.sum.default", Json::array({ref("x")}), {}));
  nodes.push_back(call("odd", "aten.fft_fft.default", Json::array({ref("x")}), {4, 3, 7}));
  problem.graph = {{"nodes", nodes}};
  const std::string words = operations_in_words(problem, library().operation_words(), 20);
  for (const std::string& line : {std::string("turned[i, j] = b[j, i] -> [112, 80]\n"),
                                  std::string("matmul[i, j] = sum over k of a[i, k] * b[j, k] (112 values of k) -> [96, 80]\n"),
                                  std::string("sigmoid = 1 / (1 + exp(-matmul)) -> [96, 80]\n"),
                                  std::string("soft = exp(x - m) / s of each of the 12 rows of 7 elements: m is the maximum"),
                                  std::string("sum_1 = sum of x along dimension 0 (4 elements) -> [3, 7]\n"),
                                  std::string("all = sum of x over all 84 elements\n"), std::string("odd = aten.fft_fft(x)")})
    EXPECT_NE(words.find(line), std::string::npos) << line << "\nin\n" << words;
  EXPECT_NE(operations_in_words(problem, {}, 2).find("... and 5 more"), std::string::npos);
  EXPECT_FALSE(works_by_rows(problem, library().operation_words()));
  const std::string tensors = tensors_with_indices(problem, false);
  EXPECT_NE(tensors.find("b: read-only float32[80, 112] (8960 elements), b[i, j] is b[i * 112 + j]\n"), std::string::npos)
      << tensors;
  EXPECT_NE(tensors.find("x[i, j, k] is x[(i * 3 + j) * 7 + k]"), std::string::npos) << tensors;

  problem.graph = {{"nodes", {nodes[2], call("soft", "aten.softmax.int", {ref("x"), {{"const", 2}}}, {4, 3, 7})}}};
  EXPECT_TRUE(works_by_rows(problem, library().operation_words()));
  EXPECT_NE(operations_in_words(problem, library().operation_words(), 9).find("-> [12 rows of 7]"), std::string::npos);
  EXPECT_NE(tensors_with_indices(problem, true).find("x: read-only float32, 12 rows of 7, x[r, c] is x[r * 7 + c]"),
            std::string::npos);
}

TEST(LibraryTest, EveryTemplateKnowsItsValues) {
  TaskBrief brief;
  brief.problem = testing::vector_problem(16);
  PromptValues values = values_of(brief, library(), false);
  for (const char* name : {"strategies", "parent", "parent_line", "findings", "failed", "known", "parents", "best_source", "ledger",
                           "levers", "task", "source", "diagnosis", "keep", "tried", "cause", "claims", "history"})
    values[name] = "x";
  for (const char* role : {"strategist", "translator", "debugger", "patch", "aligner", "conductor"})
    for (const bool compact : {false, true}) {
      const auto made = library().prompt(role, compact);
      ASSERT_TRUE(made.ok()) << role;
      for (const std::string& name : (*made)->names()) EXPECT_TRUE(values.contains(name)) << role << ": {{" << name << "}}";
      EXPECT_TRUE((*made)->fill(values, 30000).ok()) << role;
    }
  EXPECT_FALSE(library().prompt("nobody", false).ok());
}

TEST(BriefTest, GraphTensorsAndModelInWords) {
  ProblemDescription problem = testing::vector_problem(16);
  problem.graph = Json::parse(R"({"nodes": [{"name": "x", "kind": "placeholder"},
    {"name": "relu", "kind": "call", "op": "aten.relu.default", "args": [{"ref": "x"}], "shape": [16], "dtype": "float32"},
    {"name": "mul", "kind": "call", "op": "aten.mul.Tensor", "args": [{"ref": "relu"}, {"const": 2.5}], "shape": [16], "dtype": "float32"}]})");
  EXPECT_EQ(graph_summary(problem, 9), "relu = aten.relu(x) -> float32[16]\nmul = aten.mul.Tensor(relu, 2.5) -> float32[16]");
  EXPECT_EQ(graph_summary(problem, 1), "relu = aten.relu(x) -> float32[16]\n... and 1 more");
  EXPECT_EQ(tensor_lines(problem), "x: read-only float32[16]\nout: output float32[16]");
  EXPECT_EQ(
      model_class("import torch\nclass Model(nn.Module):\n    def f(self):\n        pass\n\n\ndef get_inputs():\n    return []\n"),
      "class Model(nn.Module):\n    def f(self):\n        pass\n");
  EXPECT_EQ(roughly(1.83), roughly(1.79));
  EXPECT_EQ(roughly(0), "0");
}

TEST(BriefTest, TheLedgersMostTellingRowsComeFirst) {
  std::vector<LedgerEntry> entries;
  for (int i = 0; i < 8; ++i) {
    entries.push_back({"as_promised", "memory", "softmax", 1.2, 1.2, false, "1", i});
    entries.push_back({"surprise", "memory", "softmax", 1.2, 3.0, false, "1", i});
    entries.push_back({"elsewhere", "compute", "matmul", 1.2, 3.0, false, "1", i});
  }
  const std::string rows = telling_rows(Ledger(entries), "memory", "softmax", 2);
  EXPECT_LT(rows.find("surprise"), rows.find("elsewhere")) << rows;
  EXPECT_EQ(rows.find("as_promised"), std::string::npos) << rows;
}

Individual attempt(std::int64_t index, const std::string& task, Verdict verdict, const std::string& diagnosis,
                   bool written = true) {
  Individual made;
  made.index = index;
  made.proposal.task = task;
  made.verdict = verdict;
  made.diagnosis = diagnosis;
  if (written) made.kernel.source = "source " + std::to_string(index);
  return made;
}

Conduct conduct_of(const std::vector<Individual>& attempts) {
  std::vector<const Individual*> lineage;
  for (const Individual& each : attempts) lineage.push_back(&each);
  return decide_by_rules(lineage);
}

TEST(ConductorTest, RulesForALineage) {
  const auto broken = attempt(0, "translate", Verdict::compile_failed, "no ;");
  EXPECT_EQ(conduct_of({broken}).decision, Decision::repair);
  EXPECT_EQ(conduct_of({broken}).from, 0);
  // A repair that makes it worse is taken back.
  const auto wrong = attempt(1, "repair", Verdict::wrong, "off by one");
  const auto worse = attempt(2, "repair", Verdict::compile_failed, "no }");
  EXPECT_EQ(conduct_of({broken, wrong, worse}).decision, Decision::repair);
  EXPECT_EQ(conduct_of({broken, wrong, worse}).from, 1) << "back to the best earlier state";
  // Twice no further: it depends on how far it is.
  EXPECT_EQ(
      conduct_of({broken, attempt(1, "repair", Verdict::compile_failed, "a"), attempt(2, "repair", Verdict::compile_failed, "b")})
          .decision,
      Decision::regenerate);
  EXPECT_EQ(conduct_of({wrong, attempt(2, "repair", Verdict::wrong, "off by one"), attempt(3, "repair", Verdict::wrong, "other")})
                .decision,
            Decision::regenerate);
  EXPECT_EQ(conduct_of({wrong, attempt(2, "repair", Verdict::wrong, "a"), attempt(3, "repair", Verdict::wrong, "b")}).decision,
            Decision::undecided);
  // No answer, no trust, no end.
  auto silent = attempt(0, "translate", Verdict::compile_failed, "nothing", false);
  EXPECT_EQ(conduct_of({silent}).decision, Decision::regenerate);
  silent.faults = {"no_answer"};
  EXPECT_EQ(conduct_of({silent}).decision, Decision::drop);
  EXPECT_EQ(conduct_of({attempt(0, "translate", Verdict::mistrusted, "clocks")}).decision, Decision::drop);
  EXPECT_EQ(
      conduct_of({attempt(0, "translate", Verdict::timed_out, "slow"), attempt(1, "repair", Verdict::timed_out, "slow")}).decision,
      Decision::drop);
  std::vector<Individual> many{broken};
  for (int i = 1; i < 6; ++i) many.push_back(attempt(i, "repair", Verdict::compile_failed, "x"));
  EXPECT_EQ(conduct_of(many).decision, Decision::drop);
  EXPECT_EQ(conduct_of({}).decision, Decision::drop);
}

}  // namespace
}  // namespace kw
