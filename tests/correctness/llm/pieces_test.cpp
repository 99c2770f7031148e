// The parts that models are made of, without a server: events, waits, prices, budgets, continuations, protocols.
#include <gtest/gtest.h>

#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/files.h"
#include "llm/budget.h"
#include "llm/continuation.h"
#include "llm/prices.h"
#include "llm/provider.h"
#include "llm/retry.h"
#include "llm/secret.h"
#include "llm/sse.h"
#include "support/temp_home.h"

namespace kw::llm {
namespace {

std::vector<std::string> events_of(std::string_view stream, std::size_t piece) {
  std::vector<std::string> events;
  SseReader reader([&](const SseEvent& event) -> Status {
    events.push_back(event.name + "|" + event.data);
    return {};
  });
  for (std::size_t at = 0; at < stream.size(); at += piece) EXPECT_TRUE(reader.feed(stream.substr(at, piece)).ok());
  return events;
}

TEST(SseReader, ReadsTheSameEventsHoweverTheStreamIsCut) {
  const std::string stream =
      "\xEF\xBB\xBF: a comment\n\ndata: one\n\nevent: delta\r\ndata:two\r\ndata: three \r\n\r\nid: 7\rdata\rretry: 5\r\r"
      "event: lost\n\ndata: {\"text\": \"\xC3\xA4\"}\n\ndata: never ended";
  const std::vector<std::string> expected{"message|one", "delta|two\nthree ", "message|", "message|{\"text\": \"\xC3\xA4\"}"};
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) EXPECT_EQ(events_of(stream, piece), expected) << piece;
}

TEST(SseReader, StopsAtTheHandlersErrorAndAtEndlessLines) {
  int seen = 0;
  SseReader reader([&](const SseEvent&) -> Status {
    ++seen;
    return internal_error("no");
  });
  EXPECT_FALSE(reader.feed("data: a\n\ndata: b\n\n").ok());
  EXPECT_EQ(seen, 1);
  SseReader endless([](const SseEvent&) -> Status { return {}; });
  const std::string block(1 << 20, 'x');
  Status status;
  for (int i = 0; i < 8 && status; ++i) status = endless.feed(block);
  EXPECT_FALSE(status.ok());
}

TEST(RetryAfter, ReadsSecondsAndDates) {
  EXPECT_EQ(seconds_to_wait("7"), 7.0);
  EXPECT_EQ(seconds_to_wait("0.25"), 0.25);
  EXPECT_EQ(seconds_to_wait("-3"), 0.0);
  EXPECT_EQ(seconds_to_wait(""), std::nullopt);
  EXPECT_EQ(seconds_to_wait("soon"), std::nullopt);
  const auto date = fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(std::time(nullptr) + 30));
  const auto wait = seconds_to_wait(date);
  ASSERT_TRUE(wait.has_value()) << date;
  EXPECT_NEAR(*wait, 30, 2);
  EXPECT_EQ(seconds_to_wait("Wed, 21 Oct 2015 07:28:00 GMT"), 0.0) << "a date that is past";
}

TEST(Backoff, DoublesWithinItsBoundsAndJitters) {
  EXPECT_DOUBLE_EQ(backoff(1, 1, 60, 0), 0.5);
  EXPECT_DOUBLE_EQ(backoff(1, 4, 60, 0), 4);
  EXPECT_NEAR(backoff(1, 4, 60, 0.999), 8, 0.01);
  EXPECT_DOUBLE_EQ(backoff(1, 500, 60, 0), 30);
}

TEST(Prices, FindAModelByNameVersionAndRouter) {
  const auto root = install_root();
  ASSERT_TRUE(root.ok());
  const auto table = read_price_table(*root / "knowledge" / "models" / "prices.json");
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_EQ(table->as_of.size(), 10U);
  const PricedModel* model = table->find("gpt-4o");
  ASSERT_NE(model, nullptr);
  EXPECT_DOUBLE_EQ(model->price.of(1'000'000, 100'000), 3.5);
  EXPECT_EQ(table->find("gpt-4o-2024-11-20"), model);
  EXPECT_EQ(table->find("openai/gpt-4o-latest"), model);
  ASSERT_NE(table->find("gpt-4o-mini"), nullptr);
  EXPECT_NE(table->find("gpt-4o-mini"), model);
  EXPECT_EQ(table->find("gpt-4o-audio"), nullptr) << "another model with another price";
  EXPECT_EQ(table->find("gpt-4"), nullptr);
  ASSERT_NE(table->find("claude-sonnet-4-5-20250929"), nullptr);
  EXPECT_EQ(table->find("claude-sonnet-4-5-20250929")->name, "claude-sonnet-4-5");
  for (const PricedModel& row : table->models) EXPECT_EQ(table->find(row.name), &row) << row.name;
  const auto json = parse_json(*read_file(*root / "knowledge" / "models" / "prices.json"), "prices");
  ASSERT_TRUE(json.ok());
  for (const Json& row : json->at("models"))
    EXPECT_TRUE(json->at("sources").contains(row.value("source", ""))) << row << " has no source";
}

TEST(Budget, RefusesWhatMightPassItAndCountsWhatIsUnderWay) {
  Budget tokens(0, 1000, Price{});
  ASSERT_TRUE(tokens.set_aside(300, 300).ok());
  EXPECT_FALSE(tokens.set_aside(300, 300).ok()) << "the first may still use all of its share";
  EXPECT_TRUE(tokens.refused());
  tokens.settle(300, 300, 200, 50);
  EXPECT_EQ(tokens.input_tokens() + tokens.output_tokens(), 250);
  EXPECT_TRUE(tokens.set_aside(300, 450).ok());
  EXPECT_FALSE(tokens.set_aside(1, 0).ok());

  Budget money(0.01, 0, Price{10, 100});
  EXPECT_FALSE(money.set_aside(0, 101).ok());
  ASSERT_TRUE(money.set_aside(500, 50).ok());
  EXPECT_DOUBLE_EQ(money.settle(500, 50, 500, 40), 0.009);
  EXPECT_FALSE(money.set_aside(0, 11).ok());
  EXPECT_TRUE(money.set_aside(0, 10).ok());

  Budget none(0, 0, Price{10, 100});
  EXPECT_TRUE(none.set_aside(1'000'000'000, 1'000'000'000).ok());
}

TEST(TokenEstimate, LearnsFromDenserTextsAndNeverFallsBelowItsStart) {
  TokenEstimate estimate;
  const auto start = estimate.tokens(10000);
  EXPECT_GE(start, 4000);
  estimate.learn(10000, 1500);
  EXPECT_EQ(estimate.tokens(10000), start);
  estimate.learn(20, 200);
  EXPECT_EQ(estimate.tokens(10000), start) << "a short text tells nothing";
  estimate.learn(10000, 8000);
  EXPECT_GE(estimate.tokens(10000), 8000);
}

TEST(Continuation, JoinsWithoutRepeats) {
  EXPECT_EQ(joined("for (int i = 0; i <", " n; ++i)"), "for (int i = 0; i < n; ++i)");
  EXPECT_EQ(joined("the sum of all rows is", "of all rows is kept"), "the sum of all rows is kept");
  EXPECT_EQ(joined("```cpp\nint a;\n", "```cpp\nint b;\n```"), "```cpp\nint a;\nint b;\n```");
  EXPECT_EQ(joined("```cpp\nint a;\n", "```\ndone"), "```cpp\nint a;\n```\ndone") << "a bare fence ends the block";
  EXPECT_EQ(joined("text\n```\nx\n```\n", "```cpp\ny"), "text\n```\nx\n```\n```cpp\ny") << "no block is open";
  EXPECT_EQ(joined("aaaa", "aaaa"), "aaaaaaaa") << "few characters may agree by chance";
}

TEST(Continuation, CleansWhatIsNoUtf8) {
  EXPECT_EQ(as_utf8("a\xC3\xA4\"\\\n"), "a\xC3\xA4\"\\\n");
  EXPECT_EQ(as_utf8("a\xFFz"), "a\xEF\xBF\xBDz");
}

TEST(Providers, AreFoundByNameModelAndAddress) {
  EXPECT_EQ(find_provider("nobody"), nullptr);
  EXPECT_EQ(provider_of_model("claude-sonnet-4-5", "").name, "anthropic");
  EXPECT_EQ(provider_of_model("gpt-5", "").name, "openai");
  EXPECT_EQ(provider_of_model("claude-sonnet-4-5", "https://router.example/v1").name, "openai");
  EXPECT_EQ(provider_of_model("anything", "https://api.anthropic.com").name, "anthropic");
  const Provider& openai = *find_provider("openai");
  EXPECT_EQ(endpoint_url(openai, "https://a.example/v1/"), "https://a.example/v1/chat/completions");
  EXPECT_EQ(endpoint_url(openai, "https://a.example"), "https://a.example/v1/chat/completions");
  EXPECT_EQ(endpoint_url(openai, "https://a.example/v1/chat/completions"), "https://a.example/v1/chat/completions");
  EXPECT_EQ(endpoint_url(*find_provider("anthropic"), "https://b.example/v1"), "https://b.example/v1/messages");
}

TEST(Providers, LeaveOutWhatWasTurnedDown) {
  ChatRequest request;
  request.messages = {{"system", "a"}, {"system", "b"}, {"user", "JSON please"}};
  request.seed = 3;
  request.stop = {"\n", "END"};
  request.want_json = true;
  const Json full = kOpenAi.body(request, "m", 9, {});
  for (const char* field : {"max_tokens", "temperature", "seed", "stop", "response_format", "stream_options"})
    EXPECT_TRUE(full.contains(field)) << field;
  const Json less =
      kOpenAi.body(request, "m", 9, {"max_tokens", "temperature", "seed", "stop", "response_format", "stream_options"});
  EXPECT_EQ(less.value("max_completion_tokens", 0), 9);
  EXPECT_EQ(less.size(), 4U) << less.dump();
  request.messages.back().content = "an object please";
  EXPECT_FALSE(kOpenAi.body(request, "m", 9, {}).contains("response_format")) << "turned down where the word is missing";

  const Json other = kAnthropic.body(request, "m", 9, {});
  EXPECT_EQ(other.at("system"), "a\n\nb");
  EXPECT_EQ(other.at("messages").size(), 1U);
  EXPECT_EQ(other.at("stop_sequences"), Json::array({"END"}));
  request.messages.push_back({"assistant", "so far"});
  EXPECT_EQ(kAnthropic.body(request, "m", 9, {}).at("messages").back().at("role"), "assistant");
  EXPECT_EQ(kAnthropic.body(request, "m", 9, {"prefill"}).at("messages").back().at("role"), "user");
}

TEST(Secrets, AreReplacedWhereverTheyStand) {
  const auto key = Secret::make(" sk-secret-123\n", "KEY");
  ASSERT_TRUE(key.ok());
  EXPECT_EQ(key->reveal(), "sk-secret-123");
  EXPECT_EQ(key->redact("a sk-secret-123, sk-secret-123sk-secret-123"), "a [key], [key][key]");
  EXPECT_EQ(Secret::make("none", "KEY")->redact("none of it"), "none of it") << "too short to be one";
  EXPECT_NE(random_key(), random_key());
}

TEST(PromptHash, TellsPurposesRolesAndMessagesApart) {
  const std::vector<ChatMessage> one{{"user", "ab"}, {"user", "c"}};
  EXPECT_EQ(prompt_hash("x", one), prompt_hash("x", one));
  EXPECT_NE(prompt_hash("x", one), prompt_hash("y", one));
  EXPECT_NE(prompt_hash("x", one), prompt_hash("x", {{"user", "a"}, {"user", "bc"}}));
  EXPECT_NE(prompt_hash("x", one), prompt_hash("x", {{"user", "ab"}, {"assistant", "c"}}));
}

}  // namespace
}  // namespace kw::llm
