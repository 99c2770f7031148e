#include "base/expression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace kw {
namespace {

const std::map<std::string, double> kNames{{"rows", 128}, {"bytes", 4096}, {"KW_MR", 6}, {"KW_NR", 16}, {"KW_MC", 72}, {"zero", 0}};

// The value; NaN and a failed test where there is none.
double value_of(std::string_view text) {
  const auto parsed = Expression::parse(text);
  EXPECT_TRUE(parsed.ok()) << text << ": " << (parsed.ok() ? "" : parsed.error().message);
  if (!parsed.ok()) return std::nan("");
  const auto value = parsed->value(kNames, UnknownName::is_zero);
  EXPECT_TRUE(value.ok()) << text << ": " << (value.ok() ? "" : value.error().message);
  return value.ok() ? *value : std::nan("");
}

TEST(Expression, WholeNumbersAreDividedAsInC) {
  const auto whole = [](std::string_view text) { return Expression::parse(text)->whole_value(kNames); };
  EXPECT_EQ(*whole("(rows + 5) / 6"), 22);
  EXPECT_EQ(*whole("-7 / 2"), -3);
  EXPECT_EQ(*whole("7 / 2 * 2"), 6);
  EXPECT_FALSE(whole("rows * 0.3")) << "no whole number";
  EXPECT_FALSE(whole("missing + 1")) << "an unknown name is an error";
}

TEST(Expression, GivesTheValuesThatArithmeticHas) {
  const std::vector<std::pair<std::string, double>> cases{
      {"1", 1},
      {"2.5e3", 2500},
      {".5", 0.5},
      {"1 + 2 * 3", 7},
      {"(1 + 2) * 3", 9},
      {"8 - 3 - 2", 3},
      {"64 / 4 / 2", 8},
      {"7 % 4 * 2", 6},
      {"-2 * -3", 6},
      {"- -2", 2},
      {"+3", 3},
      {"2--3", 5},
      {"rows", 128},
      {"missing", 0},
      {"rows >= 64", 1},
      {"rows<64", 0},
      {"rows == 128", 1},
      {"rows != 128", 0},
      {"rows <= 128", 1},
      {"rows > 128", 0},
      {"bytes > 0.5 * rows", 1},
      {"KW_MR * KW_NR <= 96", 1},
      {"KW_MR * KW_NR < 96", 0},
      {"KW_MC % KW_MR == 0 && KW_NR % 4 == 0", 1},
      {"KW_MC % 7 == 0 || KW_NR == 16", 1},
      {"0 || 0 && 1", 0},
      {"1 || 0 && 0", 1},
      {"!rows", 0},
      {"!zero && !!rows", 1},
      {"zero != 0 && 1 / zero > 2", 0},
      {"zero == 0 || 1 / zero > 2", 1},
      {"5 && 3", 1},
      {" ( rows ) ", 128},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(value_of(text), expected) << text;
}

TEST(Expression, KnowsItsNames) {
  const auto parsed = Expression::parse("b * a + b > _c2");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->names(), (std::vector<std::string>{"_c2", "a", "b"}));
  EXPECT_EQ(parsed->text(), "b * a + b > _c2");
  EXPECT_TRUE(*parsed->holds({{"a", 2}, {"b", 1}}, UnknownName::is_zero));
  EXPECT_FALSE(*parsed->holds({{"a", 2}, {"b", 1}, {"_c2", 3}}, UnknownName::is_error));
}

TEST(Expression, RefusesWhatItCannotRead) {
  for (const char* text : {"",      "  ",    "1 +",       "* 2",  "(1",   "1)",       "a b", "1 2",   "1..2", "3x", "1 < 2 < 3",
                           "a = 1", "a & b", "a ? b : c", "f(1)", "a[0]", "\"text\"", "#",   "1e999", "a <",  "()", "&& a"}) {
    const auto parsed = Expression::parse(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_NE(parsed.error().message.find(text), std::string::npos) << "names the text";
    EXPECT_FALSE(parsed.error().hint.empty());
  }
  EXPECT_NE(Expression::parse("1 < 2 < 3").error().message.find("&&"), std::string::npos);
}

TEST(Expression, DepthAndLengthHaveALimit) {
  EXPECT_FALSE(Expression::parse(std::string(5000, '(')).ok());
  EXPECT_FALSE(Expression::parse(std::string(400, '(') + "1" + std::string(400, ')')).ok());
  EXPECT_FALSE(Expression::parse(std::string(900, '-') + "1").ok());
  EXPECT_TRUE(Expression::parse(std::string(50, '(') + "1" + std::string(50, ')')).ok());
  std::string sum = "1";
  while (sum.size() < 990) sum += "+1";
  EXPECT_EQ(value_of(sum), 496);
}

TEST(Expression, WhatHasNoValueIsAnError) {
  for (const char* text : {"1 / zero", "1 % zero", "5.5 % 2", "1e300 * 1e300", "rows / (KW_MR - 6)"}) {
    const auto value = Expression::parse(text)->value(kNames, UnknownName::is_zero);
    ASSERT_FALSE(value.ok()) << text;
    EXPECT_NE(value.error().message.find(text), std::string::npos);
  }
  const auto unknown = Expression::parse("KW_TYPO <= 4")->value(kNames, UnknownName::is_error);
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("KW_TYPO"), std::string::npos);
  EXPECT_FALSE(Expression().value({}, UnknownName::is_zero).ok());
}

TEST(Expression, AnyTextHasAnOutcome) {
  std::mt19937 random(7);
  const std::string_view alphabet = "ab1.9()+-*/%<>=!&| e";
  int read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (unsigned length = random() % 12; length > 0; --length) text += alphabet[random() % alphabet.size()];
    const auto parsed = Expression::parse(text);
    if (!parsed.ok()) continue;
    ++read;
    const auto value = parsed->value({{"a", 3}}, UnknownName::is_zero);
    EXPECT_TRUE(!value.ok() || std::isfinite(*value)) << text;
  }
  EXPECT_GT(read, 100);
}

}  // namespace
}  // namespace kw
