#include <gtest/gtest.h>

#include "export/binding.h"
#include "export/evidence.h"
#include "export/forms.h"
#include "export/sample_header.h"
#include "export/templates.h"

namespace kw {
namespace {

TensorSpec tensor(const std::string& name, TensorKind kind, DType dtype, std::vector<std::int64_t> shape) {
  TensorSpec spec;
  spec.name = spec.c_name = name;
  spec.kind = kind;
  spec.dtype = dtype;
  spec.shape = shape;
  std::int64_t stride = 1;
  for (auto extent = shape.rbegin(); extent != shape.rend(); ++extent) {
    spec.strides.insert(spec.strides.begin(), stride);
    stride *= *extent;
  }
  spec.span = stride;
  return spec;
}

ExportSubject subject_with(const std::string& kernel) {
  ExportSubject subject;
  subject.name = "scaled";
  subject.kernel_text = kernel;
  subject.problem.inputs = {tensor("x", TensorKind::input, DType::f32, {4, 8}), tensor("alpha", TensorKind::scalar, DType::f64, {}),
                            tensor("steps", TensorKind::scalar, DType::i64, {})};
  subject.problem.parameters = {tensor("weight", TensorKind::parameter, DType::bf16, {8})};
  subject.problem.outputs = {tensor("out0", TensorKind::output, DType::f32, {4, 8}),
                             tensor("out1", TensorKind::output, DType::i64, {4})};
  return subject;
}

TEST(ExportName, IsAnIdentifierOfAnyProblem) {
  EXPECT_EQ(export_name("50_rms_norm"), "rms_norm");
  EXPECT_EQ(export_name("Fused-GELU (2)"), "fused_gelu_2");
  EXPECT_EQ(export_name("123"), "kernel");
  EXPECT_EQ(export_name("7_class"), "class_kernel");
  EXPECT_EQ(export_name("x"), "x_kernel");
  for (const char* problem : {"50_rms_norm", "Fused-GELU (2)", "123", "7_class", "x", "torch", "_", "a__", "\xc3\xa9tude"})
    EXPECT_TRUE(check_export_name(export_name(problem))) << problem;
  EXPECT_TRUE(check_export_name(export_name(std::string(200, 'a'))));
}

TEST(ExportTemplates, NamesAreFilledOnceAndDecoratorsStay) {
  const auto text = filled("@pytest.fixture\nclass @name@: a@b.c, @value@", {{"name", "Model"}, {"value", "@name@"}}, "a test");
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "@pytest.fixture\nclass Model: a@b.c, @name@");
}

TEST(ExportBinding, TheSchemaHasEveryArgumentInItsOrder) {
  const ExportSubject subject = subject_with("void kw_kernel();");
  EXPECT_EQ(operator_schema(subject.problem), "forward(Tensor x, float alpha, int steps, Tensor weight) -> (Tensor, Tensor)");
  const std::string header = binding_header(subject);
  EXPECT_NE(header.find("kInputs = 3, kWeights = 1"), std::string::npos);
  EXPECT_NE(header.find("{\"weight\", Role::weight, c10::kBFloat16, {8}, {1}}"), std::string::npos);
  EXPECT_NE(header.find("kPrepares = false"), std::string::npos);
}

TEST(ExportBinding, AnotherKernelHasAnotherNamespace) {
  const ExportSubject one = subject_with("void kw_kernel();"), other = subject_with("void* kw_prepare(); void kw_kernel();");
  EXPECT_NE(operator_namespace(one), operator_namespace(other));
  EXPECT_EQ(binding_defines(other), "[\"-DKW_HAS_PREPARE\"]");
  EXPECT_FALSE(subject_with("// kw_prepare is not used here").prepares());
}

TEST(ExportSample, RangesAndElementsBecomeRows) {
  const ExportSubject subject = subject_with("");
  const Json elements{{"places", {0, 31}}, {"values", {0.5, -2.25}}, {"tolerance", {1e-6, 2e-6}}};
  const Json sample{{"ranges", {{"x", {-1.0, 1.0}}, {"weight", {0.5, 1.5}}}}, {"outputs", {elements, elements}}};
  const auto header = sample_header(subject.problem, sample);
  ASSERT_TRUE(header) << header.error().message;
  for (const char* row : {"{'f', 4, 32, -1, 1, false},  // x", "{'b', 2, 8, 0.5, 1.5, false},  // weight", "{31, -2.25, 2e-06}"})
    EXPECT_NE(header->find(row), std::string::npos) << row;
  EXPECT_FALSE(sample_header(subject.problem, {{"ranges", Json::object()}, {"outputs", Json::array()}}));
}

TEST(ExportEvidence, ASearchsOwnTimingIsNotCalledConfirmed) {
  ExportSubject subject = subject_with("");
  subject.individual.index = 3;
  subject.individual.speedup = 2;
  subject.individual.seconds = 1e-3;
  subject.individual.interval = {1.8, 2.2};
  subject.run.winner = 5;
  subject.run.confirmed = TimingRecord{};
  const Json evidence = evidence_json(subject, {"original.py", "kernel.cpp"});
  EXPECT_FALSE(evidence.at("timing").at("confirmed").get<bool>());
  EXPECT_EQ(evidence.at("timing").at("comparisons").at(0).at("speedup"), 2.0);
  EXPECT_NE(evidence_table(subject, {"original.py", "kernel.cpp"}).find("not confirmed: a brief timing of the search"),
            std::string::npos);
}

}  // namespace
}  // namespace kw
