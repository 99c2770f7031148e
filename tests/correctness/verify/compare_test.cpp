#include "verify/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "planted.h"

namespace kw {
namespace {

using test::planted;
using test::Planted;
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Compare, ARoundedReferenceIsRight) {
  for (const auto& shape :
       std::vector<std::vector<std::int64_t>>{{1}, {3}, {17, 33}, {5, 1027}, {2, 3, 4, 65}, {300, 1}, {1000, 1000}}) {
    const auto outcome = planted(shape).compare();
    EXPECT_TRUE(outcome.right);
    EXPECT_LE(outcome.error.worst_of_tolerance, 1);
    EXPECT_TRUE(outcome.map.empty());
  }
}

TEST(Compare, FindsExactlyTheWrongElements) {
  auto output = planted({70, 1030});
  const std::vector<std::size_t> wrong{0, 63, 64, 1029, 1030, 40'000, output.size() - 1};
  for (const auto i : wrong) output.spoil(i);
  for (const int threads : {1, 2, 5}) {
    auto input = output.input();
    input.threads = threads;
    const auto outcome = compare_output(input);
    EXPECT_FALSE(outcome.right);
    EXPECT_EQ(outcome.error.wrong_elements, static_cast<std::int64_t>(wrong.size()));
    std::vector<std::size_t> found;
    for (auto i = outcome.map.next(0); i >= 0; i = outcome.map.next(i + 1)) found.push_back(static_cast<std::size_t>(i));
    EXPECT_EQ(found, wrong);
    EXPECT_EQ(outcome.map.count(1, 65), 2);
  }
}

TEST(Compare, NumbersDoNotDependOnTheThreads) {
  auto output = planted({500, 777});
  output.spoil(1234);
  auto one = output.input(), three = output.input();
  one.threads = 1;
  three.threads = 3;
  const auto a = compare_output(one), b = compare_output(three);
  EXPECT_EQ(a.error.rms_error, b.error.rms_error);
  EXPECT_EQ(a.error.worst_of_tolerance, b.error.worst_of_tolerance);
  EXPECT_EQ(a.variation, b.variation);
}

TEST(Compare, MeasuresErrorsBesideEagers) {
  Planted output({4});
  output.reference = {1, -2, 2, 4};
  output.eager = {1.5F, -2, 2, 4};
  output.kernel = {1, -2, 2, 3};
  const auto outcome = output.compare();
  EXPECT_DOUBLE_EQ(outcome.error.max_error, 1);
  EXPECT_DOUBLE_EQ(outcome.error.max_error_eager, 0.5);
  EXPECT_DOUBLE_EQ(outcome.error.rms_error, 0.5 / 2.5);
  EXPECT_DOUBLE_EQ(outcome.error.rms_error_eager, 0.25 / 2.5);
  EXPECT_EQ(outcome.error.elements, 4);
  EXPECT_NEAR(outcome.error.worst_of_tolerance, 1 / (8 * 0.5), 1e-6);
}

TEST(Compare, TheToleranceIsThatOfTheNeighbourhood) {
  // Eager is off by 0.01 in the first row only: an error of 0.05 is right there and wrong elsewhere.
  auto output = planted({2, 512});
  output.eager[100] += 0.01F;
  output.kernel[7] += 0.05F;
  EXPECT_TRUE(output.compare().right);
  output.kernel[512 + 7] += 0.05F;
  EXPECT_EQ(output.compare().error.wrong_elements, 1);
}

TEST(Compare, WhatLiesBetweenTheReferenceAndWhatFlushedInputsGiveIsRight) {
  auto output = planted({2, 512});
  std::vector<double> far(output.size(), 0);
  far[7] = -output.reference[7];  // flushed, it is zero
  auto input = output.input();
  input.flushed = far.data();
  for (const double share : {0.0, 0.5, 1.0}) {
    output.kernel[7] = static_cast<float>(share * output.reference[7]);
    EXPECT_TRUE(compare_output(input).right) << share;
  }
  for (const double share : {-0.5, 1.5}) {
    output.kernel[7] = static_cast<float>(share * output.reference[7]);
    EXPECT_FALSE(compare_output(input).right) << share;
  }
  output.kernel[7] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(compare_output(input).right);
  output.kernel[7] = static_cast<float>(output.reference[7]);
  output.kernel[8] = 0;
  EXPECT_FALSE(compare_output(input).right) << "others are not forgiven";
}

TEST(Compare, WhatEagerErrsByNextToTheseInputsIsNoiseOfTheNeighbourhoodToo) {
  auto output = planted({2, 512});
  output.kernel[7] += 0.05F;
  std::vector<double> nearby(output.size(), 0);
  nearby[100] = 0.01;
  auto input = output.input();
  EXPECT_EQ(compare_output(input).error.wrong_elements, 1);
  input.nearby = nearby.data();
  EXPECT_TRUE(compare_output(input).right);
  output.kernel[512 + 7] += 0.05F;
  EXPECT_EQ(compare_output(input).error.wrong_elements, 1) << "the other row has no such noise";
}

TEST(Compare, ALuckyNeighbourhoodIsGrantedWhatIsTypical) {
  // As a softmax of large logits: one value a row is large, and what eager errs by is a matter of luck.
  constexpr std::size_t kRows = 101, kColumns = 512;
  Planted output({kRows, kColumns});
  output.fill(0);
  for (std::size_t row = 0; row < kRows; ++row) {
    const std::size_t large = row * kColumns + row;
    output.reference[large] = 0.9;
    output.kernel[large] = 0.9F;
    output.eager[large] = 0.9F * (1 + 1e-4F * static_cast<float>(row % 5));
  }
  output.kernel[10 * kColumns + 10] *= 1 + 1e-3F;  // eager is exact there, and off by 2e-4 in the median
  EXPECT_TRUE(output.compare().right);
  output.kernel[10 * kColumns + 10] *= 1 + 4e-3F;
  EXPECT_EQ(output.compare().error.wrong_elements, 1);
}

TEST(Compare, FewNeighbourhoodsMayBeAsNoisyAsEagersWorst) {
  // Every fifth row is badly conditioned: eager is off by 1e-3 there, but for a row where it was lucky.
  constexpr std::size_t kRows = 200, kColumns = 512;
  Planted output({kRows, kColumns});
  output.fill(1);
  output.eager.assign(kRows * kColumns, 1);
  for (std::size_t row = 0; row < kRows; row += 5) {
    output.reference[row * kColumns + 9] = 4;
    output.kernel[row * kColumns + 9] = 4;
    output.eager[row * kColumns + 9] = row == 50 ? 4.F : 4.004F;
  }
  output.kernel[50 * kColumns + 9] = 4.01F;
  EXPECT_TRUE(output.compare().right);
  EXPECT_LE(output.compare().error.worst_of_tolerance, 1);
  output.kernel[50 * kColumns + 9] = 4.1F;  // beyond eager's worst
  EXPECT_EQ(output.compare().error.wrong_elements, 1);
  output.kernel[50 * kColumns + 9] = 4;
  for (std::size_t row = 1; row < 100; row += 5) output.kernel[row * kColumns] = 1.001F;  // in too many rows
  EXPECT_EQ(output.compare().error.wrong_elements, 20);
}

TEST(Compare, WhatIsLeftOfANeighbourhoodMayErrAsOthersDo) {
  // As after a ReLU: most rows are near 1, a few are zeros but for one small value, where eager was lucky.
  constexpr std::size_t kRows = 1000, kColumns = 256;
  Planted output({kRows, kColumns});
  output.fill(1);
  output.eager.assign(kRows * kColumns, 1 + 2e-7F);
  const auto leave = [&](std::size_t row, float error) {
    for (std::size_t i = row * kColumns; i < (row + 1) * kColumns; ++i)
      output.reference[i] = output.kernel[i] = output.eager[i] = 0;
    output.reference[row * kColumns + 7] = output.eager[row * kColumns + 7] = 6e-4F;
    output.kernel[row * kColumns + 7] = 6e-4F + error;
  };
  leave(10, 1e-7F);
  leave(500, 1e-7F);
  EXPECT_TRUE(output.compare().right);
  EXPECT_LE(output.compare().error.worst_of_tolerance, 1);
  leave(500, 4e-6F);  // more than others err by
  EXPECT_EQ(output.compare().error.wrong_elements, 2);
  for (std::size_t row = 100; row < 105; ++row) leave(row, 1e-7F);  // in too many
  leave(500, 1e-7F);
  EXPECT_EQ(output.compare().error.wrong_elements, 7);
}

TEST(Compare, WhatCancelsMayErrAsOthersThatCancel) {
  // As a bias less its own mean: float64 leaves 0 or its last digit, and eager is exact in two rows of three.
  constexpr std::size_t kRows = 60, kColumns = 300;
  Planted output({kRows, kColumns});
  output.fill(0);
  const auto fill = [&](auto& values, std::size_t row, auto value) {
    std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(row * kColumns), kColumns, value);
  };
  for (std::size_t row = 0; row < kRows; row += 3) {
    fill(output.reference, row, 2e-16);
    fill(output.eager, row, 1e-7F);
  }
  for (std::size_t row = 1; row < kRows; row += 3) fill(output.kernel, row, 5e-7F);
  EXPECT_TRUE(output.compare().right);
  fill(output.kernel, 1, 1e-6F);
  EXPECT_EQ(output.compare().error.wrong_elements, kColumns) << "ten times what eager errs by";
  for (const std::size_t row : {1, 4}) {
    fill(output.kernel, row, 0.0F);
    fill(output.reference, row, 3e-7);
    fill(output.eager, row, 3e-7F);
  }
  EXPECT_EQ(output.compare().error.wrong_elements, 2 * kColumns) << "what is small is not nothing";

  for (std::size_t row = 0; row < kRows; row += 3) fill(output.eager, row, 0.0F);
  for (const std::size_t row : {1, 4}) {
    fill(output.reference, row, 0.0);
    fill(output.eager, row, 0.0F);
  }
  EXPECT_FALSE(output.compare().right) << "where eager is exact in all of them, they stay exact";
}

TEST(Compare, NonFiniteValuesMustMatchInPlace) {
  const double big = 1e300;
  struct Row {
    double reference;
    float eager, kernel;
    bool right;
  };
  const std::vector<Row> rows{
      {kNan, kNan, kNan, true},   {kInf, kInf, kInf, true},  {-kInf, -kInf, -kInf, true}, {kNan, kNan, 1, false},
      {kInf, kInf, -kInf, false}, {kInf, kInf, kNan, false}, {kInf, kInf, 3e38F, false},  {1, 1, kNan, false},
      {1, 1, kInf, false},        {big, kInf, kInf, true},   {big, kInf, 1, false},       {2, kInf, 2, true},
      {2, kNan, 2, true},         {2, kNan, 3, false},       {2, kNan, kNan, true},       {kNan, kInf, kInf, true},
      {kNan, 2, 2, true},         {kNan, 2, kNan, true},     {kNan, 2, 3, false},         {-kInf, -kInf, kInf, false},
  };
  for (const auto& row : rows) {
    auto output = planted({600});
    output.reference[300] = row.reference;
    output.eager[300] = row.eager;
    output.kernel[300] = row.kernel;
    const auto outcome = output.compare();
    EXPECT_EQ(outcome.right, row.right) << row.reference << " " << row.eager << " " << row.kernel;
    EXPECT_EQ(outcome.map.is_wrong(300), !row.right);
    EXPECT_EQ(outcome.error.wrong_elements, row.right ? 0 : 1);
    EXPECT_FALSE(outcome.looks_imprecise);
    EXPECT_TRUE(std::isfinite(outcome.error.max_error) && std::isfinite(outcome.error.worst_of_tolerance));
  }
}

TEST(Compare, NonFiniteNeighboursDoNotWidenTheTolerance) {
  auto output = planted({600});
  output.reference[10] = output.eager[10] = output.kernel[10] = kInf;
  output.eager[11] = kInf;
  EXPECT_TRUE(output.compare().right);
  output.kernel[12] += 0.001F;
  EXPECT_EQ(output.compare().error.wrong_elements, 1);
}

TEST(Compare, WhatWasNeverWrittenIsWrongEvenWhereNanIsDue) {
  auto output = planted({600});
  output.reference[5] = output.eager[5] = kNan;
  output.leave_unwritten(5);
  EXPECT_EQ(output.compare().error.wrong_elements, 1);
  output.kernel[5] = kNan;
  EXPECT_TRUE(output.compare().right);
}

TEST(Compare, ZerosAreNoMatchForSmallValues) {
  auto output = planted({64, 64});
  for (std::size_t i = 0; i < output.size(); ++i) {
    output.reference[i] *= 1e-5;
    output.eager[i] = static_cast<float>(output.reference[i]);
    output.kernel[i] = 0;
  }
  const auto outcome = output.compare();
  EXPECT_FALSE(outcome.right);
  EXPECT_FALSE(outcome.looks_imprecise);
}

TEST(Compare, OneConstantIsNoMatchForAnOutputThatHardlyVaries) {
  auto output = planted({64, 64});
  for (std::size_t i = 0; i < output.size(); ++i) {
    output.reference[i] = 1 + 1e-6 * output.reference[i];
    output.eager[i] = static_cast<float>(output.reference[i]);
    output.kernel[i] = output.eager[i];
  }
  EXPECT_TRUE(output.compare().right);
  for (auto& value : output.kernel) value = 1;
  const auto outcome = output.compare();
  EXPECT_GT(outcome.error.wrong_elements, 1000);
  EXPECT_FALSE(outcome.looks_imprecise);
}

TEST(Compare, AnEmptyOutputIsRight) {
  Planted output({0, 5});
  EXPECT_TRUE(output.compare().right);
  EXPECT_EQ(output.compare().error.elements, 0);
}

template <typename T>
CompareOutcome compare_integers(DType dtype, const std::vector<T>& kernel, const std::vector<T>& reference,
                                const std::vector<T>& eager) {
  CompareInput input;
  input.kernel = kernel.data();
  input.reference = reference.data();
  input.eager = eager.data();
  input.dtype = input.reference_dtype = input.eager_dtype = dtype;
  input.shape = {static_cast<std::int64_t>(kernel.size())};
  input.rule = tolerance_rule(dtype);
  return compare_output(input);
}

TEST(Compare, IntegersAreExactOrEagers) {
  const std::vector<std::int64_t> reference{5, 1L << 60, -3, 9}, eager{5, 1L << 60, -3, 8};
  EXPECT_TRUE(compare_integers(DType::i64, reference, reference, eager).right);
  EXPECT_TRUE(compare_integers(DType::i64, eager, reference, eager).right);
  const std::vector<std::int64_t> off_by_one{5, (1L << 60) + 1, -3, 9};  // the same as a double
  const auto outcome = compare_integers(DType::i64, off_by_one, reference, eager);
  EXPECT_EQ(outcome.error.wrong_elements, 1);
  EXPECT_TRUE(outcome.map.is_wrong(1));
  EXPECT_FALSE(outcome.looks_imprecise);
}

TEST(Compare, BooleansAreOneOrZero) {
  const std::vector<std::uint8_t> reference{1, 0, 1, 1};
  EXPECT_TRUE(compare_integers(DType::boolean, reference, reference, reference).right);
  const std::vector<std::uint8_t> odd{1, 0, 0xA5, 1};
  EXPECT_EQ(compare_integers(DType::boolean, odd, reference, reference).error.wrong_elements, 1);
}

TEST(Compare, HalvesHaveTheirOwnPrecision) {
  const std::vector<std::uint16_t> right{0x3c00, 0xc000, 0x3555, 0x0001}, wrong{0x3c00, 0xc000, 0x3d55, 0x0001};
  const std::vector<double> reference{1, -2, 0.333251953125, 0x1p-24};
  CompareInput input;
  input.dtype = input.eager_dtype = DType::f16;
  input.reference = reference.data();
  input.eager = input.kernel = right.data();
  input.shape = {4};
  input.rule = tolerance_rule(DType::f16);
  EXPECT_TRUE(compare_output(input).right);
  EXPECT_DOUBLE_EQ(compare_output(input).error.max_error, 0);
  input.kernel = wrong.data();
  EXPECT_EQ(compare_output(input).error.wrong_elements, 1);
}

TEST(Compare, DoublesAreHeldToDoublePrecision) {
  const auto output = planted({1000});
  TensorSpec spec;
  spec.name = "out";
  spec.dtype = DType::f64;
  spec.shape = output.shape;
  auto kernel = output.reference;
  auto input = compare_input(spec, kernel.data(), output.reference.data(), DType::f64, output.eager.data(), DType::f32);
  ASSERT_TRUE(input);
  for (auto& value : kernel) value *= 1 + 3e-16;
  EXPECT_TRUE(compare_output(*input).right);
  for (std::size_t i = 0; i < kernel.size(); ++i) kernel[i] = static_cast<double>(output.kernel[i]);
  EXPECT_FALSE(compare_output(*input).right);
  EXPECT_TRUE(compare_output(*input).looks_imprecise);
}

TEST(Compare, TheWidestDoublesAreComparedToo) {
  const std::vector<double> reference{1e308, -1e308, 1e308, 5e307}, kernel{1e308, -1e308, -1e308, 5e307};
  CompareInput input;
  input.dtype = input.eager_dtype = DType::f64;
  input.reference = input.eager = reference.data();
  input.shape = {4};
  input.rule = tolerance_rule(DType::f64);
  input.kernel = reference.data();
  EXPECT_TRUE(compare_output(input).right);
  input.kernel = kernel.data();
  EXPECT_EQ(compare_output(input).error.wrong_elements, 1);
}

// Two lines of five values; the output is the places of the three largest of each.
class TiedPositionsTest : public ::testing::Test {
 protected:
  [[nodiscard]] CompareOutcome compare(const std::vector<std::int64_t>& kernel, bool distinct = true) const {
    CompareInput input;
    input.kernel = kernel.data();
    input.reference = input.eager = reference_.data();
    input.dtype = input.reference_dtype = input.eager_dtype = DType::i64;
    input.shape = {2, 3};
    input.ties = TiedPositions{values_, room_, lines_, 5, distinct};
    return compare_output(input);
  }
  std::vector<double> values_{7, 9, 7, 7, 1, kInf, 3, 3.5, 3, kInf}, room_{0, 0.5};
  std::vector<std::int64_t> lines_{0, 0, 0, 1, 1, 1}, reference_{1, 0, 2, 0, 4, 2};
};

TEST_F(TiedPositionsTest, AnyPlaceOfTheSameValueIsRight) {
  for (const auto& kernel : std::vector<std::vector<std::int64_t>>{
           {1, 0, 2, 0, 4, 2}, {1, 3, 2, 0, 4, 2}, {1, 2, 0, 4, 0, 2}, {1, 0, 3, 0, 4, 1}, {1, 0, 3, 0, 4, 3}})
    EXPECT_TRUE(compare(kernel).right) << ::testing::PrintToString(kernel);
}

TEST_F(TiedPositionsTest, AnotherValueATwiceTakenPlaceAndNoPlaceAreWrong) {
  for (const auto& kernel : std::vector<std::vector<std::int64_t>>{{0, 1, 2, 0, 4, 2},
                                                                   {1, 4, 2, 0, 4, 2},
                                                                   {1, 3, 3, 0, 4, 2},
                                                                   {1, 0, 2, 4, 4, 2},
                                                                   {1, 5, 2, 0, 4, 2},
                                                                   {1, -1, 2, 0, 4, 2}}) {
    const auto outcome = compare(kernel);
    EXPECT_FALSE(outcome.right) << ::testing::PrintToString(kernel);
    EXPECT_GE(outcome.error.wrong_elements, 1);
    EXPECT_EQ(outcome.map.count(0, 6), outcome.error.wrong_elements);
  }
  EXPECT_TRUE(compare({1, 3, 3, 0, 4, 2}, false).right) << "where a place may be given twice";
}

TEST_F(TiedPositionsTest, LinesWithoutTiesAreExact) {
  lines_ = {-1, -1, -1, 0, 0, 0};
  values_.resize(5);
  room_.resize(1);
  reference_ = {1, 0, 2, 1, 0, 2};
  EXPECT_FALSE(compare({1, 2, 0, 1, 0, 2}).right);
  EXPECT_TRUE(compare({1, 0, 2, 1, 3, 0}).right);
}

}  // namespace
}  // namespace kw
