#include "verify/pattern.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "planted.h"

namespace kw {
namespace {

using test::planted;
using test::Planted;

// Each test plants one mistake and expects its name, its place and the verdict.
void expect_pattern(const Planted& output, const std::string& pattern, const std::string& place, Verdict verdict = Verdict::wrong) {
  const auto outcome = output.compare();
  ASSERT_FALSE(outcome.right);
  const auto diagnosis = diagnose_output(output.input(), outcome);
  EXPECT_EQ(diagnosis.pattern, pattern) << diagnosis.summary;
  EXPECT_EQ(diagnosis.place, place) << diagnosis.summary;
  EXPECT_EQ(diagnosis.stage, "compare");
  EXPECT_FALSE(diagnosis.summary.empty());
  EXPECT_FALSE(diagnosis.hint.empty());
  EXPECT_FALSE(diagnosis.evidence.empty());
  EXPECT_EQ(verdict_of(outcome, diagnosis), verdict);
}

void for_elements(Planted& output, const std::function<bool(std::size_t row, std::size_t column)>& chosen,
                  const std::function<void(std::size_t)>& change) {
  for (std::size_t i = 0; i < output.size(); ++i)
    if (chosen(i / output.columns(), i % output.columns())) change(i);
}
void spoil_where(Planted& output, const std::function<bool(std::size_t row, std::size_t column)>& chosen) {
  for_elements(output, chosen, [&](std::size_t i) { output.spoil(i); });
}

TEST(Pattern, ARightOutputHasNoDiagnosis) {
  const auto output = planted({30, 40});
  EXPECT_TRUE(output.diagnosis().summary.empty());
  EXPECT_EQ(output.verdict(), Verdict::passed);
}

TEST(Pattern, NeverWritten) {
  auto output = planted({30, 40});
  for (std::size_t i = 0; i < output.size(); ++i) output.leave_unwritten(i);
  expect_pattern(output, "uninitialised", "out[:, :]");
}

TEST(Pattern, TailNeverWritten) {
  auto output = planted({30, 43});
  for_elements(
      output, [](auto, auto column) { return column >= 40; }, [&](auto i) { output.leave_unwritten(i); });
  expect_pattern(output, "uninitialised_tail", "out[:, 40..42]");
}

TEST(Pattern, SomeRowsNeverWritten) {
  auto output = planted({30, 43});
  for_elements(
      output, [](auto row, auto) { return row >= 8 && row < 16; }, [&](auto i) { output.leave_unwritten(i); });
  expect_pattern(output, "uninitialised_part", "out[8..15, :]");
}

TEST(Pattern, IntegersNeverWritten) {
  std::vector<std::int64_t> reference(100), kernel(100);
  for (std::size_t i = 0; i < 100; ++i) reference[i] = kernel[i] = static_cast<std::int64_t>(i);
  for (std::size_t i = 96; i < 100; ++i) kernel[i] = static_cast<std::int64_t>(poison_word(DType::i64));
  CompareInput input;
  input.dtype = input.reference_dtype = input.eager_dtype = DType::i64;
  input.kernel = kernel.data();
  input.reference = input.eager = reference.data();
  input.shape = {100};
  const auto diagnosis = diagnose_output(input, compare_output(input));
  EXPECT_EQ(diagnosis.pattern, "uninitialised_tail");
  EXPECT_EQ(diagnosis.place, "out[96..99]");
}

TEST(Pattern, Zeros) {
  auto output = planted({30, 40});
  std::fill(output.kernel.begin(), output.kernel.end(), 0.0F);
  expect_pattern(output, "zeros", "out[:, :]");
}

TEST(Pattern, OneConstant) {
  auto output = planted({30, 40});
  std::fill(output.kernel.begin(), output.kernel.end(), 0.25F);
  expect_pattern(output, "constant", "out[:, :]");
}

TEST(Pattern, OneConstantForAnOutputThatHardlyVaries) {
  auto output = planted({30, 40});
  for (std::size_t i = 0; i < output.size(); ++i) output.reference[i] = 0.5 + 1e-3 * output.reference[i];
  for (std::size_t i = 0; i < output.size(); ++i) output.eager[i] = static_cast<float>(output.reference[i]);
  std::fill(output.kernel.begin(), output.kernel.end(), 0.5003F);
  expect_pattern(output, "constant", "out[:, :]");
}

TEST(Pattern, Nan) {
  auto output = planted({30, 40});
  for (std::size_t i = 3 * 40; i < 5 * 40; ++i) output.kernel[i] = std::numeric_limits<float>::quiet_NaN();
  expect_pattern(output, "nan", "out[3..4, :]");
}

TEST(Pattern, Infinite) {
  auto output = planted({30, 40});
  for (std::size_t i = 3 * 40; i < 4 * 40; ++i) output.kernel[i] = std::numeric_limits<float>::infinity();
  expect_pattern(output, "infinite", "out[3, :]");
}

TEST(Pattern, NumbersWhereNanIsDue) {
  auto output = planted({30, 40});
  for (std::size_t i = 80; i < 90; ++i) output.reference[i] = output.eager[i] = std::numeric_limits<float>::quiet_NaN();
  expect_pattern(output, "missing_nonfinite", "out[2, 0..9]");
}

TEST(Pattern, TailOfColumns) {
  auto output = planted({30, 43});
  spoil_where(output, [](auto, auto column) { return column >= 40; });
  expect_pattern(output, "tail", "out[:, 40..42]");
  const auto evidence = output.diagnosis().evidence;
  EXPECT_NE(std::find(evidence.begin(), evidence.end(), "43 % 8 = 3"), evidence.end());
}

TEST(Pattern, TailOfRows) {
  auto output = planted({77, 64});
  spoil_where(output, [](auto row, auto) { return row >= 64; });
  expect_pattern(output, "tail", "out[64..76, :]");
}

TEST(Pattern, TailsOfBoth) {
  auto output = planted({70, 75});
  spoil_where(output, [](auto row, auto column) { return row >= 64 || column >= 64; });
  expect_pattern(output, "tail", "out[:, :]");
  EXPECT_NE(output.diagnosis().summary.find("the last 6 rows of 70 and the last 11 columns of 75"), std::string::npos);
}

TEST(Pattern, TailOfAVector) {
  auto output = planted({1003});
  for (std::size_t i = 1000; i < 1003; ++i) output.spoil(i);
  expect_pattern(output, "tail", "out[1000..1002]");
}

TEST(Pattern, FirstRowsRightThenWrong) {
  auto output = planted({64, 50});
  spoil_where(output, [](auto row, auto) { return row >= 32; });
  expect_pattern(output, "split", "out[32..63, :]");
}

TEST(Pattern, OneTile) {
  auto output = planted({128, 128});
  spoil_where(output, [](auto row, auto column) { return row / 32 == 1 && column / 32 == 2; });
  expect_pattern(output, "region", "out[32..63, 64..95]");
}

TEST(Pattern, OneElement) {
  auto output = planted({8, 16, 32});
  output.spoil(3 * 512 + 5 * 32 + 7);
  expect_pattern(output, "region", "out[3, 5, 7]");
}

TEST(Pattern, OneColumn) {
  auto output = planted({40, 50});
  spoil_where(output, [](auto, auto column) { return column == 7; });
  expect_pattern(output, "region", "out[:, 7]");
}

TEST(Pattern, SomeRows) {
  auto output = planted({40, 50});
  spoil_where(output, [](auto row, auto) { return row == 3 || row == 4 || row == 19 || row == 31; });
  expect_pattern(output, "region", "out[3..31, :]");
  const auto evidence = output.diagnosis().evidence;
  EXPECT_NE(std::find(evidence.begin(), evidence.end(), "rows 3, 4, 19, 31"), evidence.end());
}

TEST(Pattern, EveryFourthColumn) {
  auto output = planted({40, 64});
  spoil_where(output, [](auto, auto column) { return column % 4 == 3; });
  expect_pattern(output, "periodic", "out[:, 3..63]");
  EXPECT_NE(output.diagnosis().summary.find("every 4 columns, number 3"), std::string::npos);
}

TEST(Pattern, HalfOfEveryVector) {
  auto output = planted({40, 64});
  spoil_where(output, [](auto, auto column) { return column % 16 >= 8; });
  EXPECT_EQ(output.diagnosis().pattern, "periodic");
  EXPECT_NE(output.diagnosis().summary.find("every 16 columns"), std::string::npos);
}

TEST(Pattern, SignFlipped) {
  auto output = planted({30, 40});
  for (auto& value : output.kernel) value = -value;
  expect_pattern(output, "sign_flipped", "out[:, :]");
}

TEST(Pattern, ConstantFactor) {
  auto output = planted({30, 40});
  for (auto& value : output.kernel) value *= 40;
  expect_pattern(output, "constant_factor", "out[:, :]");
  EXPECT_NE(output.diagnosis().summary.find("40 times"), std::string::npos);
}

TEST(Pattern, ASmallFactorIsWrongNotImprecise) {
  auto output = planted({30, 40});
  for (auto& value : output.kernel) value *= 1.001F;
  expect_pattern(output, "constant_factor", "out[:, :]");
}

TEST(Pattern, AFactorBehindARelu) {
  auto output = planted({300, 40}, 1, -1);
  for (std::size_t i = 0; i < output.size(); ++i) {
    if (output.reference[i] < 0) output.reference[i] = output.eager[i] = output.kernel[i] = 0;
    output.kernel[i] *= 0.5F;
  }
  expect_pattern(output, "constant_factor", "out[:, :]");
}

TEST(Pattern, ConstantOffset) {
  auto output = planted({30, 40});
  for (auto& value : output.kernel) value += 0.125F;
  expect_pattern(output, "constant_offset", "out[:, :]");
}

TEST(Pattern, Transposed) {
  for (const std::int64_t columns : {32, 48}) {
    auto output = planted({4, 32, columns});
    const auto wide = static_cast<std::size_t>(columns);
    for (std::size_t i = 0; i < output.size(); ++i) {
      const auto batch = i / (32 * wide), row = i / wide % 32, column = i % wide;
      output.kernel[batch * 32 * wide + column * 32 + row] = static_cast<float>(output.reference[i]);
    }
    expect_pattern(output, "transposed", "out[:, :, :]");
  }
}

TEST(Pattern, ChannelsLast) {
  auto output = planted({2, 8, 6, 10});
  for (std::size_t i = 0; i < output.size(); ++i) {
    const auto batch = i / 480, channel = i / 60 % 8, place = i % 60;
    output.kernel[batch * 480 + place * 8 + channel] = static_cast<float>(output.reference[i]);
  }
  expect_pattern(output, "permuted", "out[:, :, :, :]");
}

// An output whose channels are innermost in memory: places are told by PyTorch's dimensions.
TEST(Pattern, PlacesInAChannelsLastOutput) {
  auto channel = planted({2, 6, 10, 8});
  channel.dimensions = {0, 2, 3, 1};
  for (std::size_t i = 5; i < channel.size(); i += 8) channel.spoil(i);
  expect_pattern(channel, "region", "out[:, 5, :, :]");

  auto contiguous = planted({2, 6, 10, 8});
  contiguous.dimensions = {0, 2, 3, 1};
  for (std::size_t i = 0; i < contiguous.size(); ++i) {
    const auto batch = i / 480, place = i / 8 % 60, number = i % 8;
    contiguous.kernel[batch * 480 + number * 60 + place] = static_cast<float>(contiguous.reference[i]);
  }
  expect_pattern(contiguous, "permuted", "out[:, :, :, :]");
  EXPECT_NE(contiguous.diagnosis().evidence.back().find("in the order 0, 1, 2, 3"), std::string::npos);
}

TEST(Pattern, ShiftedByOne) {
  auto columns = planted({30, 40}), rows = planted({30, 40});
  for (std::size_t i = 0; i < columns.size(); ++i) {
    columns.kernel[i] = static_cast<float>(columns.reference[i % 40 == 39 ? i : i + 1]);
    rows.kernel[i] = static_cast<float>(rows.reference[i < 40 ? i : i - 40]);
  }
  EXPECT_EQ(columns.diagnosis().pattern, "shifted");
  EXPECT_NE(columns.diagnosis().summary.find("1 further along dimension 1"), std::string::npos);
  EXPECT_EQ(columns.verdict(), Verdict::wrong);
  EXPECT_EQ(rows.diagnosis().pattern, "shifted");
  EXPECT_NE(rows.diagnosis().summary.find("1 before along dimension 0"), std::string::npos);
}

TEST(Pattern, RowsNotNormalised) {
  auto output = planted({50, 64});
  for (std::size_t i = 0; i < output.size(); ++i) output.kernel[i] *= 1.5F + 0.1F * static_cast<float>(i / 64 * 7 % 50);
  expect_pattern(output, "row_factor", "out[:, :]");
}

TEST(Pattern, RowsOfManyDimensionsNotNormalised) {
  auto output = planted({4, 20, 64});
  for (std::size_t i = 0; i < output.size(); ++i) output.kernel[i] *= 1.5F + 0.1F * static_cast<float>(i / 64 * 7 % 79);
  expect_pattern(output, "row_factor", "out[:, :, :]");
}

TEST(Pattern, RowsOffByTheirOwnTerm) {
  auto output = planted({50, 64});
  for (std::size_t i = 0; i < output.size(); ++i) output.kernel[i] += 0.5F + 0.1F * static_cast<float>(i / 64 * 7 % 50);
  expect_pattern(output, "row_offset", "out[:, :]");
}

TEST(Pattern, ABiasThatIsMissing) {
  auto output = planted({50, 64});
  for (std::size_t i = 0; i < output.size(); ++i) output.kernel[i] -= 0.5F + 0.1F * static_cast<float>(i % 64 * 7 % 50);
  expect_pattern(output, "channel_offset", "out[:, :]");
}

TEST(Pattern, AChannelsScaleThatIsMissing) {
  auto output = planted({4, 20, 8, 8});
  for (std::size_t i = 0; i < output.size(); ++i) output.kernel[i] *= 1.5F + 0.1F * static_cast<float>(i / 64 % 20);
  expect_pattern(output, "channel_factor", "out[:, :, :, :]");
  EXPECT_NE(output.diagnosis().summary.find("dimension 1"), std::string::npos);
}

TEST(Pattern, FewScattered) {
  auto output = planted({200, 200});
  for (std::size_t i = 17; i < output.size(); i += 1009 + i % 37) output.spoil(i);
  EXPECT_EQ(output.diagnosis().pattern, "scattered");
  EXPECT_EQ(output.verdict(), Verdict::wrong);
}

TEST(Pattern, AnOutputRoundedToBf16) {
  auto output = planted({50, 64});
  for (auto& value : output.kernel) value = test::rounded_to(value, test::kBf16Bits);
  expect_pattern(output, "low_precision", "out[:, :]", Verdict::imprecise);
  EXPECT_NE(output.diagnosis().summary.find("bf16"), std::string::npos);
}

TEST(Pattern, AnOutputRoundedToTf32) {
  auto output = planted({50, 64});
  for (auto& value : output.kernel) value = test::rounded_to(value, test::kTf32Bits);
  expect_pattern(output, "low_precision", "out[:, :]", Verdict::imprecise);
  EXPECT_NE(output.diagnosis().summary.find("tf32"), std::string::npos);
}

TEST(Pattern, ASumThatLosesItsTerms) {
  // Running sums of many positive terms in too narrow a type stay behind the truth, by a different share each.
  auto output = planted({50, 64}, 1, 5);
  const auto lost = test::random_floats(output.size(), 9, 3e-5, 1e-5);
  for (std::size_t i = 0; i < output.size(); ++i) output.kernel[i] *= 1 - std::fabs(lost[i]);
  expect_pattern(output, "accumulation", "out[:, :]", Verdict::imprecise);
}

TEST(Pattern, OtherNumbersAreUnexplained) {
  auto output = planted({50, 64});
  output.kernel = test::random_floats(output.size(), 77);
  expect_pattern(output, "unexplained", "out[:, :]");
}

TEST(Pattern, ASingleNumber) {
  Planted output({});
  output.reference = {3};
  output.eager = {3};
  output.kernel = {4};
  const auto diagnosis = output.diagnosis();
  EXPECT_EQ(diagnosis.place, "out");
  EXPECT_FALSE(diagnosis.pattern.empty());
  EXPECT_EQ(output.verdict(), Verdict::wrong);
}

TEST(Pattern, LargeOutputsAreSampled) {
  auto output = planted({1600, 2051});
  spoil_where(output, [](auto, auto column) { return column >= 3; });
  EXPECT_EQ(output.diagnosis().place, "out[:, 3..2050]");
  output = planted({1600, 2051});
  spoil_where(output, [](auto row, auto) { return row >= 5; });
  EXPECT_EQ(output.diagnosis().place, "out[5..1599, :]");
}

}  // namespace
}  // namespace kw
