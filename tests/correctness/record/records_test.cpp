#include <gtest/gtest.h>

#include "record/evaluation.h"
#include "record/machine.h"
#include "record/problem.h"
#include "record/run.h"
#include "support/small_problems.h"

namespace kw {
namespace {

using testing::scalar;
using testing::tensor;

constexpr DType kAll[] = {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i8,
                          DType::i16, DType::i32, DType::i64, DType::u8,   DType::boolean};

// Through text and back: what is equal as JSON is equal field by field.
template <typename T>
T there_and_back(const T& record) {
  const auto json = parse_json(Json(record).dump(), "a record");
  EXPECT_TRUE(json.ok());
  const T again = json->template get<T>();
  EXPECT_EQ(Json(again), Json(record));
  return again;
}

TEST(DTypes, NamesGoBothWays) {
  for (const DType dtype : kAll) {
    const auto again = dtype_from_torch_name(torch_name(dtype));
    ASSERT_TRUE(again.ok()) << torch_name(dtype);
    EXPECT_EQ(*again, dtype);
  }
}

TEST(DTypes, SizesAndSpacings) {
  EXPECT_EQ(size_of(DType::bf16), 2u);
  EXPECT_EQ(size_of(DType::boolean), 1u);
  EXPECT_EQ(size_of(DType::i64), 8u);
  EXPECT_EQ(epsilon_of(DType::f32), std::numeric_limits<float>::epsilon());
  EXPECT_EQ(epsilon_of(DType::f64), std::numeric_limits<double>::epsilon());
  EXPECT_EQ(epsilon_of(DType::bf16), 0x1p-7);
  for (const DType dtype : {DType::i8, DType::i32, DType::i64, DType::u8, DType::boolean}) EXPECT_FALSE(is_floating(dtype));
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) EXPECT_TRUE(is_floating(dtype));
}

TEST(TensorSpec, CountsElements) {
  EXPECT_EQ(tensor("x", TensorKind::input, {}).numel(), 1);
  EXPECT_EQ(tensor("x", TensorKind::input, {3, 0, 5}).numel(), 0);
  EXPECT_EQ(tensor("x", TensorKind::input, {1 << 20, 1 << 20}).numel(), std::int64_t{1} << 40);
  EXPECT_EQ(tensor("x", TensorKind::input, {3, 5}, DType::f16).span_bytes(), 30u);
}

TEST(TensorSpec, KnowsWhatIsContiguous) {
  TensorSpec x = tensor("x", TensorKind::input, {4, 1, 6});
  EXPECT_TRUE(x.is_contiguous());
  x.strides[1] = 999;  // of a dimension of one, no stride is ever used
  EXPECT_TRUE(x.is_contiguous());
  x.strides = {1, 4, 4};
  EXPECT_FALSE(x.is_contiguous());
  TensorSpec broadcast = tensor("b", TensorKind::input, {4, 6});
  broadcast.strides = {0, 1};
  EXPECT_FALSE(broadcast.is_contiguous());
  EXPECT_TRUE(tensor("s", TensorKind::input, {}).is_contiguous());
}

TEST(TensorSpec, SurvivesJson) {
  TensorSpec x = tensor("block.0.weight", TensorKind::attribute, {4, 6}, DType::bf16);
  x.strides = {1, 4};
  const TensorSpec again = there_and_back(x);
  EXPECT_EQ(again.kind, TensorKind::attribute);
  EXPECT_EQ(again.strides, x.strides);
  EXPECT_EQ(again.c_name, "block_0_weight");
  EXPECT_EQ(there_and_back(scalar("eps", DType::f64, 1e-5)).value, 1e-5);
  EXPECT_EQ(there_and_back(scalar("flag", DType::boolean, 1)).dtype, DType::boolean);
}

TEST(ProblemDescription, ArgumentsAreInputsParametersOutputs) {
  const auto problem = testing::problem_of({tensor("x", TensorKind::input, {2}), scalar("s", DType::i64, 3)},
                                           {tensor("w", TensorKind::parameter, {2})},
                                           {tensor("out0", TensorKind::output, {2}), tensor("out1", TensorKind::output, {2})});
  std::string names;
  for (const auto* argument : problem.arguments()) names += argument->name + " ";
  EXPECT_EQ(names, "x s w out0 out1 ");
}

TEST(ProblemDescription, SurvivesJsonWithAndWithoutAGraph) {
  auto problem = testing::vector_problem(5);
  problem.flops = 12.5;
  problem.sensitivity = {1, 2, 3, false, "says little"};
  problem.graph = Json{{"nodes", Json::array()}, {"outputs", {"relu"}}};
  problem.notes = {"a", "b"};
  EXPECT_EQ(there_and_back(problem).flops, 12.5);
  problem.flops.reset();
  problem.graph = nullptr;
  problem.graph_error = "data-dependent control flow";
  const auto again = there_and_back(problem);
  EXPECT_FALSE(again.flops.has_value());
  EXPECT_TRUE(again.graph.is_null());
  EXPECT_FALSE(again.sensitivity.telling);
}

TEST(Verdicts, NamesGoBothWays) {
  for (int i = 0; i <= static_cast<int>(Verdict::mistrusted); ++i) {
    const auto verdict = static_cast<Verdict>(i);
    ASSERT_TRUE(verdict_from_name(name_of(verdict)).ok());
    EXPECT_EQ(*verdict_from_name(name_of(verdict)), verdict);
  }
}

TEST(VerdictRecord, NothingIsPassedByDefault) { EXPECT_NE(VerdictRecord{}.verdict, Verdict::passed); }

TEST(VerdictRecord, CarriesADiagnosisUnlessPassed) {
  VerdictRecord record;
  record.verdict = Verdict::wrong;
  record.diagnosis = {"compare", "off by one", "out[3, 0..7]", {"a", "b"}, "check the tail", "tail"};
  record.checks = {{"mixed", "given", 9007199254740991ULL, 2, false, {{"out", 1, 0.5, 0.25, 0.125, 17, 3, 100}}}};
  const auto again = there_and_back(record);
  EXPECT_EQ(again.diagnosis.evidence, record.diagnosis.evidence);
  EXPECT_EQ(again.checks.at(0).seed, 9007199254740991ULL);
  record.verdict = Verdict::passed;
  EXPECT_FALSE(Json(record).contains("diagnosis"));
  EXPECT_TRUE(there_and_back(record).diagnosis.summary.empty());
}

TEST(TimingRecord, AWinIsAnIntervalAboveOne) {
  Comparison comparison;
  comparison.speedup = 1.2;
  comparison.interval = {1.0, 1.4};
  EXPECT_FALSE(comparison.is_win());
  comparison.interval = {1.0001, 1.4};
  EXPECT_TRUE(comparison.is_win());
  TimingRecord timing;
  timing.comparisons = {comparison};
  timing.zone = "memory";
  EXPECT_EQ(there_and_back(timing).comparisons.at(0).interval.low, 1.0001);
}

TEST(TimingRecord, SaysOnWhichGpuItWasMade) {
  TimingRecord timing;
  EXPECT_FALSE(Json(timing).contains("gpu")) << "on this machine's processor";
  timing.gpu = "NVIDIA L4";
  timing.threads = 2;
  const auto again = Json(timing).get<TimingRecord>();
  EXPECT_EQ(again.gpu, "NVIDIA L4");
  EXPECT_EQ(again.threads, 2);
}

TEST(Machine, SurvivesJson) {
  Machine machine;
  machine.id = "m";
  machine.isas = {"sse2"};
  machine.peaks = {{"sse2", 2, 33.5}};
  machine.bandwidth = {{"copy", 2, 1e6, 12.25}};
  EXPECT_EQ(there_and_back(machine).bandwidth.at(0).gbytes_per_second, 12.25);
}

TEST(RunRecord, KeepsTheLanguageOfItsKernels) {
  for (const char* dsl : {"cpp", "opencl", "cuda-c", "triton"}) {
    RunRecord run;
    run.options.dsl = dsl;
    EXPECT_EQ(there_and_back(run).options.dsl, dsl);
  }
}

TEST(RunRecord, IsEstimatedUnlessItsGpuWasHere) {
  RunOptions options;
  options.timed_on = "";
  EXPECT_FALSE(options.is_estimated());
  options.dsl = "cuda-c";
  EXPECT_TRUE(options.is_estimated());
  options.timed_on = "NVIDIA L4";
  const auto again = Json(options).get<RunOptions>();
  EXPECT_TRUE(again.is_on_gpu());
  EXPECT_FALSE(again.is_estimated());
  EXPECT_EQ(again.timed_on, "NVIDIA L4");
}

TEST(RunRecord, KeepsTheCeilingsOfAGpu) {
  RunRecord run;
  EXPECT_FALSE(there_and_back(run).ceilings.has_value());
  run.ceilings = GpuCeilings{"NVIDIA A100", 2039, 7219, "fp32", 19500};
  EXPECT_EQ(there_and_back(run).ceilings->peak_gflops, 19500);
}

TEST(Evaluation, SurvivesJsonWithAndWithoutATiming) {
  Evaluation evaluation;
  evaluation.key.knobs = {{"KW_TILE", "64"}};
  evaluation.kernel_source = "// \"quotes\" \n\ttabs \\ and \xc3\xa9";
  EXPECT_FALSE(there_and_back(evaluation).timing.has_value());
  evaluation.timing = TimingRecord{};
  evaluation.timing->seconds = 0.5;
  const auto again = there_and_back(evaluation);
  EXPECT_EQ(again.timing->seconds, 0.5);
  EXPECT_EQ(again.kernel_source, evaluation.kernel_source);
  EXPECT_EQ(again.key.key(), evaluation.key.key());
}

}  // namespace
}  // namespace kw
