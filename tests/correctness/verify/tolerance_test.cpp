#include "verify/tolerance.h"

#include <gtest/gtest.h>

#include <cfloat>

namespace kw {
namespace {

using Shape = std::vector<std::int64_t>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Tolerance, FollowsEagersErrorWhereThatIsLarge) {
  const auto rule = tolerance_rule(DType::f32);
  EXPECT_DOUBLE_EQ(tolerance_from_noise_floor(rule, {0.25, 1, 1}, 1), 2 + rule.tiny);
}

TEST(Tolerance, LeavesRoomForRoundingWhereEagerIsExact) {
  const auto rule = tolerance_rule(DType::f32);
  EXPECT_DOUBLE_EQ(tolerance_from_noise_floor(rule, {0, 3, 100}, 0.5), 64 * 0x1p-23 * 3 + rule.tiny);
  EXPECT_DOUBLE_EQ(tolerance_from_noise_floor(rule, {0, 3, 100}, -5), 64 * 0x1p-23 * 5 + rule.tiny);
}

TEST(Tolerance, IsBoundByTheOutputsVariation) {
  const auto rule = tolerance_rule(DType::f32);
  // 1 in all elements but for 1e-5: two hundredths of that.
  EXPECT_DOUBLE_EQ(tolerance_from_noise_floor(rule, {0, 1, 1e-4}, 1), 2e-6 + rule.tiny);
  // Nothing is asked that rounding the result itself would break.
  EXPECT_DOUBLE_EQ(tolerance_from_noise_floor(rule, {0, 1, 0}, 1), 8 * 0x1p-23 + rule.tiny);
  EXPECT_DOUBLE_EQ(tolerance_from_noise_floor(rule, {0, 1, kInfinity}, 1), 64 * 0x1p-23 + rule.tiny);
}

TEST(Tolerance, ScalesTheNoiseForDoubles) {
  EXPECT_EQ(noise_scale(DType::f64, DType::f32), 0x1p-29);
  EXPECT_EQ(noise_scale(DType::f64, DType::f64), 1);
  EXPECT_EQ(noise_scale(DType::f32, DType::f32), 1);
  const auto rule = tolerance_rule(DType::f64, 0, 0x1p-29);
  EXPECT_DOUBLE_EQ(tolerance_from_noise_floor(rule, {1e-3, 1, 1}, 1), 8e-3 * 0x1p-29 + rule.tiny);
}

TEST(Tolerance, AStatedPrecisionCountsOnlyWhereItIsCoarser) {
  EXPECT_EQ(tolerance_rule(DType::f32, *stated_epsilon("float32")).epsilon, 0x1p-23);
  EXPECT_EQ(tolerance_rule(DType::f32, *stated_epsilon("tf32")).epsilon, 0x1p-10);
  EXPECT_EQ(tolerance_rule(DType::f32, *stated_epsilon("fp16")).epsilon, 0x1p-10);
  EXPECT_EQ(tolerance_rule(DType::f32, *stated_epsilon("bf16")).epsilon, 0x1p-7);
  EXPECT_EQ(tolerance_rule(DType::bf16, *stated_epsilon("tf32")).epsilon, 0x1p-7);
  EXPECT_EQ(tolerance_rule(DType::i32, *stated_epsilon("bf16")).epsilon, 0);
  const auto unknown = stated_epsilon("int4");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("int4"), std::string::npos);
}

TEST(Tolerance, FlushingToZeroIsForgivenButNotSmallHalves) {
  EXPECT_GE(tolerance_rule(DType::f32).tiny, static_cast<double>(FLT_MIN));
  EXPECT_GE(tolerance_rule(DType::f64).tiny, DBL_MIN);
  EXPECT_LT(tolerance_rule(DType::f16).tiny, 1e-6);  // a softmax over a thousand is 1e-3
}

// Every element once and in order, each neighbourhood of the size that its shape calls for.
void check_cover(const Shape& shape, std::int64_t least, std::int64_t most) {
  const Neighbourhoods all(shape);
  std::int64_t next = 0, elements = 1;
  for (const auto extent : shape) elements *= extent;
  for (std::int64_t i = 0; i < all.count(); ++i) {
    const auto range = all.range(i);
    EXPECT_EQ(range.begin, next);
    EXPECT_GE(range.end - range.begin, least);
    EXPECT_LE(range.end - range.begin, most);
    next = range.end;
  }
  EXPECT_EQ(next, elements);
}

TEST(Neighbourhoods, CoverEveryShape) {
  check_cover({7, 512}, 512, 512);
  check_cover({3, 1025}, 512, 513);
  check_cover({2, 4096}, 1024, 1024);
  check_cover({1'000'000}, 512, 1024);
  check_cover({1000, 3}, 256, 1024);
  check_cover({1000, 1}, 256, 1024);
  check_cover({5, 255}, 256, 1024);
  check_cover({2, 3, 5, 200}, 256, 1024);
  check_cover({4, 5}, 20, 20);
  check_cover({}, 1, 1);
  check_cover({3, 0, 5}, 0, 0);
}

TEST(Neighbourhoods, LongRowsDoNotShareOne) {
  const Neighbourhoods all(Shape{4, 300});
  EXPECT_EQ(all.count(), 4);
  EXPECT_EQ(all.range(2).begin, 600);
  EXPECT_EQ(all.range(2).end, 900);
}

TEST(Moments, MergeToTheWhole) {
  Moments left{3, 2, 2};              // 1 2 3
  left.merge(Moments{2, 10.5, 0.5});  // 10 11
  EXPECT_DOUBLE_EQ(left.count, 5);
  EXPECT_DOUBLE_EQ(left.mean, 5.4);
  EXPECT_NEAR(left.standard_deviation(), std::sqrt(89.2 / 5), 1e-12);
  EXPECT_EQ((Moments{1, 4, 0}).standard_deviation(), kInfinity);
}

}  // namespace
}  // namespace kw
