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

}  // namespace
}  // namespace kw
