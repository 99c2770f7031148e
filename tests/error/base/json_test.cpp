#include "base/json.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(JsonError, NamesTheSource) {
  for (const std::string text : {"", "{", "nul", "{\"a\":}", "[1,]", "\"\xff\xfe\"", "{} {}", "1e999999"}) {
    const auto json = parse_json(text, "the oracle's answer");
    ASSERT_FALSE(json.ok()) << text;
    EXPECT_EQ(json.error().message.rfind("the oracle's answer: ", 0), 0u) << json.error().message;
    EXPECT_EQ(json.error().kind, ErrorKind::bad_input);
  }
}

TEST(JsonError, EndlessNestingIsRefusedBeforeItIsBuilt) {
  EXPECT_FALSE(parse_json(std::string(201, '[') + std::string(201, ']'), "x").ok());
  EXPECT_FALSE(parse_json(std::string(5'000'000, '['), "x").ok());
  std::string objects;
  for (int i = 0; i < 300; ++i) objects += "{\"a\":";
  EXPECT_NE(parse_json(objects, "x").error().message.find("nested deeper"), std::string::npos);
}

TEST(JsonError, AMissingOrMistypedFieldIsNamed) {
  const Json json{{"count", "three"}};
  const auto missing = read_fields("a record", [&] { return json.at("absent").get<int>(); });
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("absent"), std::string::npos);
  const auto mistyped = read_fields("a record", [&] { return json.at("count").get<int>(); });
  ASSERT_FALSE(mistyped.ok());
  EXPECT_EQ(mistyped.error().message.rfind("a record: ", 0), 0u);
}

TEST(JsonError, OnlyWholeNumbersInRangeAreIntegers) {
  const auto as_integer = [](const char* text) { return read_fields("it", [&] { return Json::parse(text).get<std::int32_t>(); }); };
  EXPECT_EQ(*as_integer("-7"), -7);
  EXPECT_EQ(*as_integer("3.0"), 3);
  EXPECT_EQ(*as_integer("2147483647"), 2147483647);
  for (const char* text :
       {"1.5", "1e30", "-1e30", "2147483648", "-2147483649", "18446744073709551615", "6.66667e+19", "true", "\"1\""})
    EXPECT_FALSE(as_integer(text).ok()) << text;
  EXPECT_FALSE(read_fields("it", [] { return Json::parse("[1, 1e30]").get<std::vector<std::int64_t>>(); }).ok());
  EXPECT_FALSE(read_fields("it", [] { return Json::parse("-1").get<std::uint64_t>(); }).ok());
  EXPECT_EQ(*read_fields("it", [] { return Json::parse("18446744073709551615").get<std::uint64_t>(); }), 18446744073709551615ULL);
}

}  // namespace
}  // namespace kw
