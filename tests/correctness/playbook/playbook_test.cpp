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

TEST(Playbook, RowsAreReducedTogetherWhereNothingElseIsAlongThem) {
  const auto sums = [](int columns) {
    const std::string shape = "[512, " + std::to_string(columns) + "]";
    auto problem = problem_of({tensor("x", TensorKind::input, {512, columns})}, {}, {tensor("out", TensorKind::output, {512})});
    return with_graph(
        problem,
        placeholder("x", shape) + "," + call("sum", "aten.sum.dim_IntList", ref("x") + R"(, {"list": [{"const": 1}]})", "[512]"),
        R"("sum")");
  };
  const Kernel whole = written(sums(96), {"explicit_vectors", "tile_rows_together"});
  EXPECT_EQ(whole.claims, (std::vector<std::string>{"explicit_vectors", "tile_rows_together"}));
  EXPECT_TRUE(contains(whole.source, "KW_TOGETHER"));
  EXPECT_FALSE(contains(written(sums(99), {"explicit_vectors", "tile_rows_together"}).source, "KW_TOGETHER"));
  const Kernel masked = written(sums(99), {"explicit_vectors", "tile_rows_together", "masked_tails"});
  EXPECT_TRUE(contains(masked.source, "KW_TOGETHER"));
  EXPECT_TRUE(contains(masked.source, "kw_load_part("));
  EXPECT_FALSE(contains(written(softmax_rows(), {"explicit_vectors", "fuse_chain", "fuse_row_passes", "tile_rows_together"}).source,
                        "KW_TOGETHER"));
}

TEST(Playbook, OnlyThePiecesInUseArePasted) {
  const std::string fused = written(softmax_rows(), {"fuse_chain", "explicit_vectors", "vector_maths"}).source;
  EXPECT_TRUE(contains(fused, "kw_exp_to_one(kw_vec"));
  EXPECT_FALSE(contains(fused, "kw_exp(kw_vec"));  // distances below a row's maximum are not above 0
  EXPECT_FALSE(contains(fused, "kw_erf"));
  EXPECT_EQ(count_of(fused, "constexpr int kw_lanes = 8;"), 1);
  const std::string by_libm = written(softmax_rows(), {"fuse_chain", "explicit_vectors"}).source;
  EXPECT_TRUE(contains(by_libm, "kw_each"));
}

TEST(Playbook, SaysThatRandomNumbersCannotBeRepeated) {
  auto problem = problem_of({tensor("x", TensorKind::input, {4})}, {}, {tensor("out", TensorKind::output, {4})});
  const auto hint_for = [&](const std::string& op) {
    const auto read = Playbook::read(
        with_graph(problem, placeholder("x", "[4]") + "," + call("made", op, ref("x"), "[4]"), R"("made")"), {.threads = 2});
    return read.ok() ? "" : read.error().hint;
  };
  EXPECT_TRUE(contains(hint_for("aten.randn_like.default"), "random numbers"));
  EXPECT_TRUE(contains(hint_for("aten.linalg_inv.default"), "a kernel of your own"));
}

TEST(Playbook, AnEluOfPositiveNumbersNeedsNoExponential) {
  std::vector<std::string> vectors{"fuse_chain", "explicit_vectors", "vector_maths"};
  auto problem = problem_of({tensor("x", TensorKind::input, {64, 256})}, {}, {tensor("out", TensorKind::output, {64, 256})});
  const std::string elu = placeholder("x", "[64, 256]") + "," + call("elu", "aten.selu.default", ref("x"), "[64, 256]");
  EXPECT_TRUE(contains(written(with_graph(problem, elu, R"("elu")"), vectors).source, "kw_expm1(x_at)"));
  vectors.emplace_back("skip_idle_lanes");
  const Kernel skipping = written(with_graph(problem, elu, R"("elu")"), vectors);
  EXPECT_TRUE(contains(skipping.source, "kw_expm1_of_negatives(x_at)"));
  EXPECT_NE(std::ranges::find(skipping.claims, "skip_idle_lanes"), skipping.claims.end());
  const std::string expm1 = placeholder("x", "[64, 256]") + "," + call("expm1", "aten.expm1.default", ref("x"), "[64, 256]");
  EXPECT_FALSE(contains(written(with_graph(problem, expm1, R"("expm1")"), vectors).source, "kw_expm1_of_negatives"));
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

TEST(Playbook, WideTilesReadLongRunsOfSeveralRows) {
  auto problem = problem_of({tensor("x", TensorKind::input, {30, 1000})}, {}, {tensor("out", TensorKind::output, {1000})});
  problem =
      with_graph(problem,
                 placeholder("x", "[30, 1000]") + "," +
                     call("amax", "aten.amax.default", ref("x") + R"(, {"list": [{"const": 0}]}, {"const": false})", "[1000]"),
                 R"("amax")");
  const Kernel wide = written(problem, {"explicit_vectors", "wide_column_tiles", "tile_columns"});
  EXPECT_EQ(wide.claims, (std::vector<std::string>{"explicit_vectors", "wide_column_tiles"}));
  EXPECT_TRUE(contains(wide.source, "k + KW_ROWS <= 30")) << wide.source;
  EXPECT_TRUE(contains(wide.source, "30 / KW_ROWS * KW_ROWS")) << "rows that are left over";
  EXPECT_TRUE(contains(wide.source, "1000 / kw_lanes * kw_lanes")) << "columns that are left over";
}

TEST(Playbook, TheNextRowIsAskedForInTheSecondPass) {
  const Kernel kernel = written(softmax_rows(), {"fuse_chain", "fuse_row_passes", "explicit_vectors", "vector_maths",
                                                 "keep_row_values", "prefetch_next_row"});
  EXPECT_TRUE(contains(kernel.source, "// strategy prefetch_next_row: "));
  EXPECT_EQ(count_of(kernel.source, "__builtin_prefetch"), 1) << kernel.source;
  EXPECT_GT(kernel.source.find("__builtin_prefetch"), kernel.source.find("kw_maximum(lanes")) << "not in the first pass";
  EXPECT_EQ(count_of(kernel.source, " + kw_lanes <= 96"), 3) << "the sum of what is kept is taken where it is made\n"
                                                             << kernel.source;
  EXPECT_FALSE(contains(kernel.source, "thread_local")) << "a short row is kept on the stack";
}

// x + y, and what `second` makes of it: two outputs of 8 MB.
ProblemDescription sum_and(const std::string& second) {
  auto problem = problem_of({tensor("x", TensorKind::input, {4096, 512}), tensor("y", TensorKind::input, {4096, 512})}, {},
                            {tensor("out0", TensorKind::output, {4096, 512}), tensor("out1", TensorKind::output, {4096, 512})});
  return with_graph(problem,
                    placeholder("x", "[4096, 512]") + "," + placeholder("y", "[4096, 512]") + "," +
                        call("total", "aten.add.Tensor", ref("x") + "," + ref("y"), "[4096, 512]") + "," + second,
                    R"("second", "total")");
}
const std::vector<std::string> kForLargeRows{"explicit_vectors", "fuse_chain",        "fuse_row_passes",
                                             "stream_stores",    "prefetch_next_row", "parallel_outer"};

TEST(Playbook, AnOutputThatItsRowIsMadeOfGoesPastTheCachesAndIsKeptBeside) {
  const auto softmax = call("second", "aten.softmax.int", ref("total") + R"(, {"const": -1}, {"const": null})", "[4096, 512]");
  const std::string text = written(sum_and(softmax), kForLargeRows).source;
  EXPECT_TRUE(contains(text, "float kept[512]")) << text;
  EXPECT_TRUE(contains(text, "kw_stream(out1 + ")) << text;
  EXPECT_FALSE(contains(text, "kw_load(out1")) << text;
  // Passes over what is kept ask for the next row of both inputs.
  EXPECT_EQ(count_of(text, ") + 2048);"), 2) << text;
}

TEST(Playbook, AnOutputThatAnotherIsMadeOfGoesPastTheCachesWhereNothingReadsIt) {
  const std::string text = written(sum_and(call("second", "aten.tanh.default", ref("total"), "[4096, 512]")), kForLargeRows).source;
  EXPECT_TRUE(contains(text, "kw_stream(out0 + ")) << text;
  EXPECT_TRUE(contains(text, "kw_stream(out1 + ")) << text;
  EXPECT_FALSE(contains(text, "kw_load(out1")) << text;
}

TEST(Playbook, WhatIsTheSameForEveryRowIsNotAskedFor) {
  auto problem = problem_of({tensor("x", TensorKind::input, {4096, 512}), tensor("b", TensorKind::input, {512})}, {},
                            {tensor("out", TensorKind::output, {4096, 512})});
  problem = with_graph(problem,
                       placeholder("x", "[4096, 512]") + "," + placeholder("b", "[512]") + "," +
                           call("sum", "aten.add.Tensor", ref("x") + "," + ref("b"), "[4096, 512]"),
                       R"("sum")");
  const std::string text = written(problem, {"explicit_vectors", "prefetch_ahead", "parallel_outer"}).source;
  EXPECT_EQ(count_of(text, "__builtin_prefetch("), 1) << text;
}

TEST(Playbook, AnExtremeAndItsPositionAreOnePass) {
  const std::string results = R"("results": [{"shape": [64], "dtype": "float32"}, {"shape": [64], "dtype": "int64"}])";
  auto problem = problem_of({tensor("x", TensorKind::input, {64, 128})}, {},
                            {tensor("out0", TensorKind::output, {64}), tensor("out1", TensorKind::output, {64}, DType::i64)});
  problem = with_graph(problem,
                       placeholder("x", "[64, 128]") + R"(, {"name": "low", "kind": "call", "op": "aten.min.dim",
                       "args": [{"ref": "x"}, {"const": -1}], "kwargs": {}, "shape": null, "dtype": null, )" +
                           results + "}, " + call("values", "operator.getitem", ref("low") + R"(, {"const": 0})", "[64]") + "," +
                           call("positions", "operator.getitem", ref("low") + R"(, {"const": 1})", "[64]", "int64"),
                       R"("values", "positions")");
  for (const auto& strategies : {std::vector<std::string>{"fuse_row_passes"},
                                 std::vector<std::string>{"fuse_row_passes", "explicit_vectors", "vector_argument"}}) {
    const std::string source = written(problem, strategies).source;
    EXPECT_EQ(count_of(source, "row < 64"), 1) << source;
    EXPECT_TRUE(contains(source, "out0[row] = ") && contains(source, "out1[row] = ")) << source;
  }
}

TEST(Playbook, RowsThatArePickedLaterAreAskedForEarly) {
  auto problem = problem_of({tensor("tokens", TensorKind::input, {256}, DType::i64)},
                            {tensor("table", TensorKind::parameter, {100, 64})}, {tensor("out", TensorKind::output, {256, 64})});
  problem = with_graph(
      problem,
      R"({"name": "tokens", "kind": "placeholder", "op": "placeholder", "tensor": "tokens", "shape": [256], "dtype": "int64"},)" +
          placeholder("table", "[100, 64]") + "," +
          call("rows", "aten.embedding.default", ref("table") + "," + ref("tokens"), "[256, 64]"),
      R"("rows")");
  const Kernel kernel = written(problem, {"explicit_vectors", "prefetch_gather"});
  EXPECT_EQ(kernel.claims, (std::vector<std::string>{"explicit_vectors", "prefetch_gather"}));
  EXPECT_TRUE(contains(kernel.source, "__builtin_prefetch(table + j + tokens[later] * 64);")) << kernel.source;
}

TEST(Playbook, PositionsSideBySideArePickedInLanes) {
  auto problem = problem_of({tensor("x", TensorKind::input, {64, 96}), tensor("at", TensorKind::input, {64, 32}, DType::i64)}, {},
                            {tensor("out", TensorKind::output, {64, 32})});
  problem = with_graph(
      problem,
      placeholder("x", "[64, 96]") +
          R"(, {"name": "at", "kind": "placeholder", "op": "placeholder", "tensor": "at", "shape": [64, 32], "dtype": "int64"},)" +
          call("picked", "aten.gather.default", ref("x") + R"(, {"const": 1},)" + ref("at"), "[64, 32]"),
      R"("picked")");
  const Kernel kernel = written(problem, {"explicit_vectors", "prefetch_gather"});
  EXPECT_TRUE(contains(kernel.source, "kw_pick(x + i * 96, at + i * 32 + j, 1, 0)")) << kernel.source;
  EXPECT_EQ(kernel.claims, (std::vector<std::string>{"explicit_vectors", "prefetch_gather"}));
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

// Inputs a, b, c, d of 48 x 48 and calls on them; the last node is the output.
ProblemDescription of_squares(const std::string& calls, const std::string& last) {
  std::vector<TensorSpec> inputs;
  std::string nodes;
  for (const char* name : {"a", "b", "c", "d"}) {
    inputs.push_back(tensor(name, TensorKind::input, {48, 48}));
    nodes += placeholder(name, "[48, 48]") + ",";
  }
  return with_graph(problem_of(inputs, {}, {tensor("out", TensorKind::output, {48, 48})}), nodes + calls, '"' + last + '"');
}

std::string on_squares(const std::string& name, const std::string& op, const std::string& args) {
  return call(name, "aten." + op, args, "[48, 48]");
}

TEST(Playbook, MemoryStaysUntilAProductBehindItsEpilogueHasReadIt) {
  const auto problem = of_squares(on_squares("factor", "exp.default", ref("a")) + "," +
                                      on_squares("other", "mm.default", ref("b") + "," + ref("c")) + "," +
                                      on_squares("product", "mm.default", ref("factor") + "," + ref("other")) + "," +
                                      on_squares("relu", "relu.default", ref("product")),
                                  "relu");
  const std::string source = written(problem, {"fuse_chain", "fuse_epilogue", "register_tile"}).source;
  EXPECT_TRUE(contains(source, "static float scratch1[")) << "both factors are read at once:\n" << source;
}

TEST(Playbook, TwoProductsOfOneSumAreAStageEach) {
  const auto problem = of_squares(on_squares("first", "mm.default", ref("a") + "," + ref("b")) + "," +
                                      on_squares("second", "mm.default", ref("c") + "," + ref("d")) + "," +
                                      on_squares("relu", "relu.default", ref("second")) + "," +
                                      on_squares("add", "add.Tensor", ref("first") + "," + ref("relu")),
                                  "add");
  const std::string source = written(problem, {"fuse_chain", "fuse_epilogue", "fuse_prologue", "register_tile"}).source;
  EXPECT_EQ(count_of(source, "// product: "), 2) << source;
  EXPECT_TRUE(contains(source, "// product: relu")) << "what follows the second alone is its own:\n" << source;
  EXPECT_TRUE(contains(source, "// product: add")) << source;
}

TEST(Playbook, ReductionsInsideAnOperandComeBeforeTheProduct) {
  const auto problem =
      of_squares(call("softmax", "aten.softmax.int", ref("a") + R"(, {"const": -1}, {"const": null})", "[48, 48]") + "," +
                     on_squares("product", "mm.default", ref("softmax") + "," + ref("b")) + "," +
                     on_squares("relu", "relu.default", ref("product")),
                 "relu");
  const Kernel kernel = written(problem, {"fuse_chain", "fuse_row_passes", "fuse_epilogue", "fuse_prologue", "register_tile"});
  EXPECT_EQ(count_of(kernel.source, "// rows: softmax"), 1) << kernel.source;
  EXPECT_EQ(count_of(kernel.source, "static float scratch"), 1) << kernel.source;
}

TEST(PlaybookMemory, ARowIsWrittenOverWhatItIsMadeOf) {
  const auto softmax = [](const std::string& of, int dim) {
    return call("softmax", "aten.softmax.int", ref(of) + R"(, {"const": )" + std::to_string(dim) + R"(}, {"const": null})",
                "[48, 48]");
  };
  const std::vector<std::string> wanted{"fuse_chain", "fuse_row_passes", "fuse_epilogue", "register_tile", "explicit_vectors"};
  const std::string product = on_squares("product", "mm.default", ref("a") + "," + ref("b")) + ",";
  const auto scratch = [&](const std::string& nodes, const char* output) {
    return count_of(written(of_squares(nodes, output), wanted).source, "static float scratch");
  };
  EXPECT_EQ(scratch(product + softmax("product", -1), "softmax"), 0) << "both are in the output";
  EXPECT_EQ(scratch(product + on_squares("relu", "relu.default", ref("product")) + "," +
                        call("norm", "aten.layer_norm.default",
                             ref("relu") + R"(, {"list": [{"const": 48}]}, {"const": null}, {"const": null}, {"const": 1e-5})",
                             "[48, 48]"),
                    "norm"),
            0)
      << "the first of a row is read before the row is written";
  EXPECT_EQ(scratch(product + softmax("product", 0), "softmax"), 1) << "columns are not done one after the other";
  EXPECT_EQ(scratch(product + softmax("product", -1) + "," +
                        call("turned", "aten.transpose.int", ref("product") + R"(, {"const": 0}, {"const": 1})", "[48, 48]") + "," +
                        on_squares("add", "add.Tensor", ref("softmax") + "," + ref("turned")),
                    "add"),
            1)
      << "another row of the product is read";
  EXPECT_EQ(
      scratch(product + softmax("product", -1) + "," + on_squares("second", "mm.default", ref("softmax") + "," + ref("product")),
              "second"),
      2)
      << "the product is read again";
}

TEST(Playbook, ResultsOfShortRowsAreLanes) {
  auto problem = problem_of({tensor("x", TensorKind::input, {64, 256, 4})}, {}, {tensor("out", TensorKind::output, {64, 256})});
  problem =
      with_graph(problem,
                 placeholder("x", "[64, 256, 4]") + "," +
                     call("amax", "aten.amax.default", ref("x") + R"(, {"list": [{"const": -1}]}, {"const": false})", "[64, 256]"),
                 R"("amax")");
  const std::string source = written(problem, {"explicit_vectors"}).source;
  EXPECT_TRUE(contains(source, "kw_store(out")) << source;
}

TEST(Playbook, ASoftmaxThatALargerSumReadsIsOneVisitOfItsRows) {
  auto problem = problem_of({tensor("gates", TensorKind::input, {512, 8}), tensor("x", TensorKind::input, {512, 8, 64})}, {},
                            {tensor("out", TensorKind::output, {512, 64})});
  problem = with_graph(
      problem,
      placeholder("gates", "[512, 8]") + "," + placeholder("x", "[512, 8, 64]") + "," +
          call("softmax", "aten.softmax.int", ref("gates") + R"(, {"const": -1}, {"const": null})", "[512, 8]") + "," +
          call("column", "aten.unsqueeze.default", ref("softmax") + R"(, {"const": 2})", "[512, 8, 1]") + "," +
          call("mul", "aten.mul.Tensor", ref("x") + "," + ref("column"), "[512, 8, 64]") + "," +
          call("sum", "aten.sum.dim_IntList", ref("mul") + R"(, {"list": [{"const": 1}]}, {"const": false})", "[512, 64]"),
      R"("sum")");
  const std::string source = written(problem, {"fuse_chain", "fuse_row_passes"}).source;
  EXPECT_EQ(count_of(source, ": softmax\n"), 1) << source;
  EXPECT_EQ(count_of(source, "static float scratch"), 1) << source;
}

TEST(Playbook, AResultThatNothingReadsNeedNotBeKnown) {
  const auto pooled = [](const std::string& output) {
    const std::string results = R"("results": [{"shape": [4, 8], "dtype": "float32"}, {"shape": [4, 8], "dtype": "int64"}])";
    return with_graph(problem_of({tensor("x", TensorKind::input, {4, 16})}, {}, {tensor("out", TensorKind::output, {4, 8})}),
                      placeholder("x", "[4, 16]") + R"(, {"name": "pool", "kind": "call", "op": "aten.adaptive_max_pool1d.default",
                      "args": [{"ref": "x"}, {"list": [{"const": 8}]}], "kwargs": {}, "shape": null, "dtype": null, )" +
                          results + "}, " + call("values", "operator.getitem", ref("pool") + R"(, {"const": 0})", "[4, 8]") + "," +
                          call("indices", "operator.getitem", ref("pool") + R"(, {"const": 1})", "[4, 8]", "int64"),
                      '"' + output + '"');
  };
  EXPECT_TRUE(Playbook::read(pooled("values"), {}).ok());
  const auto refused = Playbook::read(pooled("indices"), {});
  ASSERT_FALSE(refused.ok());
  EXPECT_TRUE(contains(refused.error().message, "indices")) << refused.error().message;
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
