#include <gtest/gtest.h>

#include <memory>

#include "base/hash.h"
#include "base/json.h"
#include "base/result.h"

namespace kw {
namespace {

TEST(Hash, IsSha256InLowerCaseHex) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_NE(sha256(std::string_view("a\0b", 3)), sha256("a")) << "bytes after a zero count";
}

TEST(Hash, KeysDoNotRunTogether) {
  EXPECT_NE(key_of("ab", "c"), key_of("a", "bc"));
  EXPECT_NE(key_of("ab", ""), key_of("", "ab"));
  EXPECT_NE(key_of("1:a"), key_of("a"));
  EXPECT_NE(key_of("a", "b"), key_of("a1:b"));
  EXPECT_EQ(key_of("a", std::string("b")), key_of(std::string("a"), "b"));
}

Result<int> half(int number) {
  if (number % 2 != 0) return bad_input("odd: " + std::to_string(number), "double it");
  return number / 2;
}
Result<int> quarter(int number) {
  KW_TRY(const int once, half(number));
  KW_TRY(const int twice, half(once));
  return twice;
}
Status must_be_even(int number) {
  KW_TRY(const int ignored, half(number));
  (void)ignored;
  return {};
}
Result<std::string> described(int number) {
  KW_CHECK(must_be_even(number));
  return std::string("even");
}

TEST(Result, ValuesPassThrough) {
  ASSERT_TRUE(quarter(8).ok());
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(*described(4), "even");
}

TEST(Result, TheFirstErrorArrivesWhole) {
  const auto result = quarter(6);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "odd: 3");
  EXPECT_EQ(result.error().hint, "double it");
  EXPECT_EQ(result.error().kind, ErrorKind::bad_input);
  EXPECT_EQ(described(3).error().message, "odd: 3");
}

TEST(Result, HoldsWhatCanOnlyBeMoved) {
  const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(5); };
  auto result = make();
  ASSERT_TRUE(result);
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 5);
}

TEST(Json, ReadsWhatItWrote) {
  const auto json = parse_json(R"({"a": [1, 2.5, "x\"]}"], "b": null})", "a test");
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(parse_json(json->dump(), "again")->at("a"), json->at("a"));
}

TEST(Json, BracketsInStringsAreNoDepth) {
  const std::string text = "[\"" + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + "\"]";
  EXPECT_TRUE(parse_json(text, "a test").ok());
}

TEST(Json, ManyShallowListsAreNoDepth) {
  std::string text = "[";
  for (int i = 0; i < 1000; ++i) text += "[],";
  EXPECT_TRUE(parse_json(text + "[]]", "a test").ok());
}

TEST(Json, DepthIsAllowedUpToTwoHundred) { EXPECT_TRUE(parse_json(std::string(200, '[') + std::string(200, ']'), "a test").ok()); }

}  // namespace
}  // namespace kw
