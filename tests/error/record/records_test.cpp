#include <gtest/gtest.h>

#include <functional>

#include "record/evaluation.h"
#include "record/problem.h"
#include "support/small_problems.h"

namespace kw {
namespace {

// Reads a record from damaged JSON; the error's message.
template <typename T>
std::string complaint(Json json, const std::function<void(Json&)>& damage) {
  damage(json);
  const auto read = read_fields("the file", [&] { return json.get<T>(); });
  EXPECT_FALSE(read.ok()) << json.dump();
  return read.ok() ? "" : read.error().message;
}

const Json kTensor = testing::tensor("x", TensorKind::input, {2, 3});

TEST(TensorSpecError, NamesWhatIsWrong) {
  const auto damaged = [](const std::function<void(Json&)>& damage) { return complaint<TensorSpec>(kTensor, damage); };
  EXPECT_NE(damaged([](Json& j) { j["dtype"] = "complex64"; }).find("complex64"), std::string::npos);
  EXPECT_NE(damaged([](Json& j) { j["kind"] = "teapot"; }).find("teapot"), std::string::npos);
  EXPECT_NE(damaged([](Json& j) { j["strides"] = {1}; }).find("'x'"), std::string::npos);
  EXPECT_NE(damaged([](Json& j) { j.erase("span"); }).find("span"), std::string::npos);
  EXPECT_FALSE(damaged([](Json& j) { j["shape"] = "2x3"; }).empty());
  EXPECT_FALSE(damaged([](Json& j) { j = Json::array(); }).empty());
  EXPECT_NE(damaged([](Json& j) { j["kind"] = "scalar"; }).find("value"), std::string::npos) << "a scalar without its value";
}

TEST(DTypeError, UnknownTypesAreNamed) {
  EXPECT_NE(dtype_from_torch_name("complex128").error().message.find("complex128"), std::string::npos);
  EXPECT_FALSE(dtype_from_torch_name("").ok());
  EXPECT_FALSE(dtype_from_torch_name("Float32").ok());
}

TEST(VerdictError, UnknownNamesAreRefused) {
  EXPECT_NE(verdict_from_name("maybe").error().message.find("maybe"), std::string::npos);
  VerdictRecord record;
  EXPECT_NE(complaint<VerdictRecord>(record, [](Json& j) { j["verdict"] = "maybe"; }).find("maybe"), std::string::npos);
  EXPECT_NE(complaint<VerdictRecord>(record, [](Json& j) { j.erase("checks"); }).find("checks"), std::string::npos);
}

TEST(ProblemError, EveryFieldIsNeeded) {
  const Json whole = testing::vector_problem(3);
  for (const auto& [name, value] : whole.items()) {
    const std::string field = name;
    if (field == "call" || field == "eager_bytes") continue;  // archives of long ago have none
    EXPECT_NE(complaint<ProblemDescription>(whole, [&](Json& j) { j.erase(field); }).find(field), std::string::npos);
  }
}

TEST(ProblemError, AnArchivedProblemMayNotTellHowItIsCalled) {
  Json json = testing::vector_problem(3);
  json.erase("call");
  EXPECT_TRUE(json.get<ProblemDescription>().call.is_null());
}

TEST(EvaluationError, AMissingKeyOrTimingIsNamed) {
  const Json whole = Evaluation{};
  for (const char* field : {"key", "verdict", "timing", "kernel_source"})
    EXPECT_NE(complaint<Evaluation>(whole, [&](Json& j) { j.erase(field); }).find(field), std::string::npos);
}

}  // namespace
}  // namespace kw
