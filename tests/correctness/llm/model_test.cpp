// Models through the loopback server, which checks each request's form: answers, continuations, retries, limits, recordings.
#include "support/model_server.h"

#include <thread>

#include <fmt/format.h>

namespace kw {
namespace {

using testing::kPlantedKey;
using testing::ModelTest;

class ModelAnswers : public ModelTest, public ::testing::WithParamInterface<const char*> {
 protected:
  // Nothing that was sent was of a wrong form, and each request had the key.
  static void expect_well_formed(std::size_t requests) {
    const Json log = server().log();
    EXPECT_EQ(log.at("invalid"), Json::array());
    EXPECT_EQ(log.at("requests").size(), requests);
    for (const Json& sent : log.at("requests")) EXPECT_TRUE(sent.at("has_key").get<bool>());
  }
};
INSTANTIATE_TEST_SUITE_P(Protocols, ModelAnswers, ::testing::Values("openai", "anthropic"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(ModelAnswers, ComeWholeHoweverTheStreamIsCut) {
  const std::string text = "```cpp\nfloat x = 1; // \xC3\xA4\xE2\x82\xAC \"quoted\" \\ \t\n```\n";
  Json steps = Json::array();
  for (const int cut : {1, 7, 64, 100000}) steps.push_back({{"answer", text}, {"cut", cut}, {"piece", 5}});
  steps.push_back({{"answer", text}, {"stream", false}});
  server().plan({{"steps", steps}});
  const auto model = open_model(options(GetParam()));
  ASSERT_TRUE(model.ok()) << model.error().message;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto exchange = (*model)->chat(request());
    ASSERT_TRUE(exchange.ok()) << exchange.error().message;
    EXPECT_EQ(exchange->answer, text) << i;
    EXPECT_EQ(exchange->finish, "stop");
    EXPECT_EQ(exchange->attempts, 1);
    EXPECT_EQ(exchange->input_tokens, (18 + 15) / 4 + 3);
    EXPECT_GT(exchange->output_tokens, 0);
    EXPECT_EQ(exchange->provider, GetParam());
    EXPECT_EQ(exchange->model, "test-model");
    EXPECT_EQ(exchange->messages.size(), 2U);
    EXPECT_EQ(exchange->created_at.size(), 20U);
  }
  expect_well_formed(steps.size());
  EXPECT_EQ((*model)->usage().exchanges, 5);
}

TEST_P(ModelAnswers, AskForEverythingInTheProvidersForm) {
  ChatRequest full = request("Answer in JSON. \xFF is no UTF-8");
  full.max_tokens = 77;
  full.temperature = 1.5;
  full.seed = 11;
  full.stop = {"END"};
  full.want_json = true;
  ASSERT_TRUE(ask(options(GetParam()), full).ok());
  expect_well_formed(1);
  EXPECT_EQ(server().log().at("requests").at(0).at("body").at("max_tokens"), 77);
}

TEST_P(ModelAnswers, AreContinuedWhereTheyWereCutOff) {
  server().plan({{"steps",
                  {{{"answer", "```cpp\nint first;\n"}, {"finish", "length"}},
                   {{"answer", "\nint second;\n"}, {"finish", "length"}},
                   {{"answer", "int third;\n```"}}}}});
  const auto exchange = ask(options(GetParam()), request());
  ASSERT_TRUE(exchange.ok()) << exchange.error().message;
  EXPECT_EQ(exchange->finish, "stop");
  EXPECT_EQ(exchange->attempts, 3);
  for (const char* part : {"int first;", "int second;", "int third;\n```"})
    EXPECT_NE(exchange->answer.find(part), std::string::npos) << exchange->answer;
  EXPECT_EQ(exchange->messages.size(), 2U) << "what was asked, not how the rest was got";
  expect_well_formed(3);
}

TEST_P(ModelAnswers, StayCutOffWhereContinuingIsNotWantedOrNeverEnds) {
  server().plan({{"otherwise", {{"answer", "and more words each time"}, {"finish", "length"}}}});
  ModelOptions choice = options(GetParam());
  choice.limits.continuations = 0;
  auto exchange = ask(choice, request());
  ASSERT_TRUE(exchange.ok());
  EXPECT_EQ(exchange->finish, "length");
  EXPECT_EQ(exchange->attempts, 1);
  choice.limits.continuations = 2;
  exchange = ask(choice, request());
  ASSERT_TRUE(exchange.ok());
  EXPECT_EQ(exchange->finish, "length");
  EXPECT_EQ(exchange->attempts, 3);
}

TEST_P(ModelAnswers, SurviveEveryPassingFault) {
  for (const char* fault : {"rate_limit", "server_error", "overloaded", "proxy_page", "refused", "half_closed", "reset",
                            "malformed_sse", "garbage", "error_event", "empty"}) {
    server().plan({{"steps", {{{"fault", fault}}, {{"fault", fault}}, {{"answer", "int good;"}}}}});
    const auto model = open_model(options(GetParam()));
    ASSERT_TRUE(model.ok());
    const auto exchange = (*model)->chat(request());
    ASSERT_TRUE(exchange.ok()) << fault << ": " << exchange.error().message;
    EXPECT_EQ(exchange->answer, "int good;") << fault;
    EXPECT_EQ(exchange->finish, "stop") << fault;
    EXPECT_EQ(exchange->attempts, 3) << fault;
    EXPECT_EQ((*model)->usage().faults, 2) << fault;
  }
}

TEST_P(ModelAnswers, AreWaitedForWhereTheyComeSlowly) {
  server().plan({{"steps", {{{"fault", "slow_stream"}, {"cut", 60}, {"delay", 0.01}, {"answer", "slow but sure"}}}}});
  const auto exchange = ask(options(GetParam()), request());
  ASSERT_TRUE(exchange.ok()) << exchange.error().message;
  EXPECT_EQ(exchange->answer, "slow but sure");
  EXPECT_EQ(exchange->attempts, 1);
}

TEST_P(ModelAnswers, DoWithoutFieldsThatTheEndpointDoesNotKnow) {
  const bool openai = std::string(GetParam()) == "openai";
  Json steps{{{"fault", "unsupported"}, {"field", "temperature"}}};
  if (openai) steps.push_back({{"fault", "unsupported"}, {"field", "max_tokens"}});
  server().plan({{"steps", steps}});
  const auto model = open_model(options(GetParam()));
  ASSERT_TRUE(model.ok());
  ASSERT_TRUE((*model)->chat(request()).ok());
  ASSERT_TRUE((*model)->chat(request()).ok());
  const Json sent = server().log().at("requests");
  ASSERT_EQ(sent.size(), steps.size() + 2) << "what was learnt once is not asked again";
  EXPECT_FALSE(sent.back().at("body").contains("temperature"));
  EXPECT_EQ(sent.back().at("body").contains("max_completion_tokens"), openai);
}

using ModelLimitsHold = ModelTest;

TEST_F(ModelLimitsHold, RetryAfterIsHonoured) {
  server().plan({{"steps", {{{"fault", "rate_limit"}, {"retry_after", 0.3}}}}});
  ASSERT_TRUE(ask(options(), request()).ok());
  const Json sent = server().log().at("requests");
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_GE(sent.at(1).at("time").get<double>() - sent.at(0).at("time").get<double>(), 0.29);
}

TEST_F(ModelLimitsHold, SeveralRequestsAreUnderWayUpToTheLimit) {
  server().plan({{"otherwise", {{"answer", "ok"}, {"delay_before", 0.1}}}});
  ModelOptions choice = options();
  choice.limits.in_flight = 3;
  const auto model = open_model(choice);
  ASSERT_TRUE(model.ok());
  std::vector<ChatRequest> requests;
  for (int i = 0; i < 9; ++i) requests.push_back(request(fmt::format("number {}", i)));
  const auto answers = chat_many(**model, requests, 9);
  ASSERT_EQ(answers.size(), 9U);
  for (int i = 0; i < 9; ++i) {
    ASSERT_TRUE(answers[i].ok());
    EXPECT_EQ(answers[i]->messages.back().content, fmt::format("number {}", i));
  }
  // Not always all three where the machine is busy with other things.
  EXPECT_LE(server().log().at("most_in_flight").get<int>(), 3);
  EXPECT_GE(server().log().at("most_in_flight").get<int>(), 2);
  EXPECT_EQ((*model)->usage().exchanges, 9);
}

TEST_F(ModelLimitsHold, NoRequestIsSentThatMightPassTheTokens) {
  server().plan({{"otherwise", {{"answer", std::string(400, 'x')}}}});
  ModelOptions choice = options();
  choice.limits.max_tokens = 1000;
  const auto model = open_model(choice);
  ASSERT_TRUE(model.ok());
  ChatRequest small = request();
  small.max_tokens = 200;
  int answered = 0;
  Result<Exchange> last = internal_error("");
  while ((last = (*model)->chat(small)).ok()) ++answered;
  EXPECT_NE(last.error().message.find("--max-tokens 1000"), std::string::npos) << last.error().message;
  EXPECT_GT(answered, 3);
  const ModelUsage usage = (*model)->usage();
  EXPECT_TRUE(usage.budget_spent);
  EXPECT_LE(usage.input_tokens + usage.output_tokens, 1000);
  EXPECT_EQ(server().log().at("requests").size(), static_cast<std::size_t>(answered)) << "the refused one was not sent";
}

TEST_F(ModelLimitsHold, NoRequestIsSentThatMightPassTheMoney) {
  ModelOptions choice = options();
  choice.model = "gpt-4o";
  choice.limits.max_usd = 0.003;
  ChatRequest small = request();
  small.max_tokens = 250;
  const auto model = open_model(choice);
  ASSERT_TRUE(model.ok()) << model.error().message;
  const auto exchange = (*model)->chat(small);
  ASSERT_TRUE(exchange.ok()) << exchange.error().message;
  EXPECT_DOUBLE_EQ(exchange->usd, (static_cast<double>(exchange->input_tokens) * 2.5 + exchange->output_tokens * 10.0) / 1e6);
  small.max_tokens = 400;
  const auto refused = (*model)->chat(small);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("--max-usd"), std::string::npos) << refused.error().message;
}

TEST_F(ModelLimitsHold, ACancelledModelIsNotWaitedFor) {
  server().plan({{"otherwise", {{"fault", "stall"}}}});
  std::atomic<bool> cancelled{false};
  ModelOptions choice = options();
  choice.cancelled = &cancelled;
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    cancelled = true;
  });
  const auto exchange = ask(choice, request());
  canceller.join();
  ASSERT_FALSE(exchange.ok());
  EXPECT_NE(exchange.error().message.find("cancelled"), std::string::npos);
}

TEST_F(ModelTest, SettingsComeFromFlagsThenEnvironmentThenFile) {
  const auto file =
      home_.write("config.toml", fmt::format("[model]\nname = \"of-the-file\"\nbase_url = \"{}\"\ncontext_tokens = 5000\n"
                                             "max_tokens = 9\n[price]\ninput = 1.5\noutput = 2\n",
                                             server().url()));
  const testing::ScopedVariable config("KERNELWRIGHT_CONFIG", file.string());
  auto model = open_model({});
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_EQ((*model)->name(), "of-the-file");
  EXPECT_EQ((*model)->context_tokens(), 5000);
  EXPECT_FALSE((*model)->chat(request()).ok()) << "the file's max_tokens hold";
  const testing::ScopedVariable named("KERNELWRIGHT_MODEL", "of-the-environment");
  EXPECT_EQ((*open_model({}))->name(), "of-the-environment");
  ModelOptions flags;
  flags.model = "of-the-flags";
  EXPECT_EQ((*open_model(flags))->name(), "of-the-flags");
}

TEST_F(ModelTest, KeysComeFromPrivateFiles) {
  const testing::ScopedVariable no_key("KERNELWRIGHT_API_KEY", std::nullopt);
  const testing::ScopedVariable no_provider_key("OPENAI_API_KEY", std::nullopt);
  const auto key_file = home_.write("key", std::string(kPlantedKey) + "\n");
  fs::permissions(key_file, fs::perms::owner_read | fs::perms::owner_write);
  for (const std::string& line : {fmt::format("key_file = \"{}\"", key_file.string()), std::string("key_file = \"key\""),
                                  fmt::format("key = \"{}\"", kPlantedKey)}) {
    const auto file = home_.write("config.toml", "[model]\n" + line + "\n");
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
    const testing::ScopedVariable config("KERNELWRIGHT_CONFIG", file.string());
    const auto exchange = ask(options(), request());
    ASSERT_TRUE(exchange.ok()) << line << ": " << exchange.error().message;
    EXPECT_EQ(exchange->answer, "ok");
  }
}

class Recordings : public ModelTest {
 protected:
  std::string file_ = (home_.write("x", "").parent_path() / "recording.jsonl").string();

  ModelOptions recording() const {
    ModelOptions choice = options();
    choice.record_file = file_;
    return choice;
  }
  [[nodiscard]] Result<std::unique_ptr<Model>> replay() const {
    ModelOptions choice;
    choice.replay_file = file_;
    return open_model(choice);
  }
};

TEST_F(Recordings, ReplayTheSameAnswersInOrderWithNoModel) {
  server().plan({{"steps", {{{"answer", "first"}}, {{"answer", "other"}}, {{"answer", "second"}}, {{"fault", "long"}}}}});
  std::vector<Exchange> live;
  {
    const auto model = open_model(recording());
    ASSERT_TRUE(model.ok()) << model.error().message;
    for (const char* prompt : {"a", "b", "a", "c \xFF"}) live.push_back(*(*model)->chat(request(prompt)));
  }
  server().plan({{"otherwise", {{"fault", "server_error"}}}});
  const auto model = replay();
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_EQ((*model)->name(), "test-model");
  EXPECT_EQ((*model)->context_tokens(), 32768);
  const auto again = [&](const char* prompt) { return *(*model)->chat(request(prompt)); };
  EXPECT_EQ(again("b").answer, "other");
  EXPECT_EQ(Json(again("a")), Json(live[0]));
  EXPECT_EQ(again("a").answer, "second");
  const Exchange failed = again("c \xFF");
  EXPECT_EQ(failed.finish, "error");
  EXPECT_EQ(failed.error, live[3].error);
  EXPECT_EQ((*model)->usage().input_tokens,
            live[0].input_tokens + live[1].input_tokens + live[2].input_tokens + live[3].input_tokens);
  EXPECT_EQ(server().log().at("requests").size(), 0U);
}

TEST_F(Recordings, RememberWhatEndedTheModelsPart) {
  server().plan({{"steps", {{{"answer", "good"}}, {{"fault", "wrong_key"}}}}});
  std::string ending;
  {
    const auto model = open_model(recording());
    ASSERT_TRUE((*model)->chat(request("a")).ok());
    ending = (*model)->chat(request("b")).error().message;
  }
  const auto model = replay();
  EXPECT_TRUE((*model)->chat(request("a")).ok());
  const auto ended = (*model)->chat(request("b"));
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().message, ending);
}

TEST_F(Recordings, AreContinuedAndSurviveALineThatWasCutOff) {
  ASSERT_TRUE(ask(recording(), request("a")).ok());
  auto text = read_file(file_);
  ASSERT_TRUE(write_file_atomically(file_, *text + "{\"purpose\": \"tran").ok());
  ASSERT_TRUE(ask(recording(), request("b")).ok());
  const auto model = replay();
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_TRUE((*model)->chat(request("a")).ok());
  EXPECT_TRUE((*model)->chat(request("b")).ok());
}

}  // namespace
}  // namespace kw
