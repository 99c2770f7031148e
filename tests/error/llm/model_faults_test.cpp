// What must fail clearly: faults that do not pass, wrong settings, recordings that do not fit; and no key in any of it.
#include "support/model_server.h"

#include <fmt/format.h>

#include "archive/archive.h"
#include "correctness/archive/samples.h"
#include "llm/local_model.h"

namespace kw {
namespace {

using testing::kPlantedKey;
using testing::ModelTest;
using testing::ScopedVariable;

// An error that names the values and says what to do, without the key.
void expect_says(const Error& error, std::initializer_list<std::string> words) {
  for (const std::string& word : words) EXPECT_NE(error.message.find(word), std::string::npos) << word << " in: " << error.message;
  EXPECT_EQ(error.message.find(kPlantedKey), std::string::npos) << error.message;
  EXPECT_EQ(error.hint.find(kPlantedKey), std::string::npos) << error.hint;
  EXPECT_EQ(error.kind, ErrorKind::bad_input) << error.message;
}

class ModelFaults : public ModelTest, public ::testing::WithParamInterface<const char*> {
 protected:
  static Result<Exchange> under(const Json& fault) {
    server().plan({{"otherwise", fault}});
    return ask(options(GetParam()), request());
  }
  static std::size_t requests() { return server().log().at("requests").size(); }
};
INSTANTIATE_TEST_SUITE_P(Protocols, ModelFaults, ::testing::Values("openai", "anthropic"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(ModelFaults, EndEverythingAtOnceWhereNoPromptCanHelp) {
  const struct {
    Json fault;
    std::vector<std::string> words;
  } cases[] = {{{{"fault", "wrong_key"}}, {"does not accept the key", "401"}},
               {{{"fault", "echo_key"}}, {"does not accept the key", "[key]"}},
               {{{"fault", "unknown_model"}}, {"has no model 'test-model'"}},
               {{{"fault", "no_credit"}}, {"no credit left"}},
               {{{"fault", "redirect"}, {"to", "http://127.0.0.1:9/elsewhere"}}, {"redirects to http://127.0.0.1:9/elsewhere"}}};
  for (const auto& [fault, words] : cases) {
    const auto outcome = under(fault);
    ASSERT_FALSE(outcome.ok()) << fault;
    for (const std::string& word : words) expect_says(outcome.error(), {word});
    EXPECT_FALSE(outcome.error().hint.empty()) << fault;
    EXPECT_EQ(requests(), 1U) << fault << ": tried again in vain";
  }
}

TEST_P(ModelFaults, AreInTheExchangeWhereAnotherPromptMayHelp) {
  for (const char* fault :
       {"server_error", "overloaded", "proxy_page", "half_closed", "malformed_sse", "garbage", "error_event", "empty"}) {
    const auto outcome = under({{"fault", fault}});
    ASSERT_TRUE(outcome.ok()) << fault << ": " << outcome.error().message;
    EXPECT_EQ(outcome->finish, "error") << fault;
    EXPECT_NE(outcome->error.find("after 4 attempts"), std::string::npos) << outcome->error;
    EXPECT_EQ(outcome->attempts, 4) << fault;
    EXPECT_EQ(requests(), 4U) << fault;
  }
}

TEST_P(ModelFaults, LongAnswersAreCutOffAndNotAskedForAgain) {
  const auto outcome = under({{"fault", "long"}});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->finish, "error");
  EXPECT_EQ(outcome->answer.size(), 128U * 1024);
  EXPECT_NE(outcome->error.find("longer than 131072 bytes"), std::string::npos) << outcome->error;
  EXPECT_EQ(outcome->attempts, 1);
}

TEST_P(ModelFaults, RequestsThatAreTurnedDownAreNotRepeated) {
  const auto outcome = under({{"fault", "bad_request"}, {"message", "prompt is too long: 9000 tokens > 8000 maximum"}});
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->finish, "error");
  EXPECT_NE(outcome->error.find("prompt is too long"), std::string::npos) << outcome->error;
  EXPECT_EQ(requests(), 1U);
}

TEST_P(ModelFaults, SilenceAndEndlessStreamsAreGivenUp) {
  ModelOptions choice = options(GetParam());
  choice.limits.attempts = 1;
  choice.limits.idle_seconds = 0.2;
  server().plan({{"otherwise", {{"fault", "stall"}}}});
  auto outcome = ask(choice, request());
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_NE(outcome->error.find("not a byte for 0.2 s"), std::string::npos) << outcome->error;
  choice.limits.idle_seconds = 60;
  choice.limits.total_seconds = 0.4;
  server().plan({{"otherwise", {{"fault", "slow_stream"}, {"cut", 2}}}});
  outcome = ask(choice, request());
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_NE(outcome->error.find("no end after 0.4 s"), std::string::npos) << outcome->error;
}

TEST_P(ModelFaults, InALaterPieceLeaveWhatWasWritten) {
  server().plan({{"steps", {{{"answer", "int kept;"}, {"finish", "length"}}}}, {"otherwise", {{"fault", "server_error"}}}});
  const auto outcome = ask(options(GetParam()), request());
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->finish, "length");
  EXPECT_EQ(outcome->answer, "int kept;");
  EXPECT_FALSE(outcome->error.empty());
}

TEST_F(ModelTest, WaitsThatAreTooLongAreNotWaited) {
  server().plan({{"otherwise", {{"fault", "rate_limit"}, {"retry_after", 7200}, {"as_date", true}}}});
  const auto outcome = ask(options(), request());
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->attempts, 1);
  EXPECT_NE(outcome->error.find("too long"), std::string::npos) << outcome->error;
}

TEST_F(ModelTest, ARefusedConnectionEndsEverythingAfterRetries) {
  ModelOptions choice = options();
  choice.base_url = server().refused_url();
  const auto outcome = ask(choice, request());
  ASSERT_FALSE(outcome.ok());
  expect_says(outcome.error(), {"cannot be reached", server().refused_url(), "after 4 attempts"});
}

TEST_F(ModelTest, APromptThatCannotFitIsNotSent) {
  const auto outcome = ask(options(), request(std::string(400'000, 'x')));
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->finish, "error");
  EXPECT_NE(outcome->error.find("too many for a model that reads 32768 tokens"), std::string::npos) << outcome->error;
  EXPECT_EQ(outcome->attempts, 0);
}

// The one that a run under faults relies on: most answers come, and whatever happened is in the numbers.
TEST_F(ModelTest, ThirtyPercentOfRandomFaultsAreLivedThrough) {
  server().plan({{"fault_rate", 0.3}, {"seed", 4}, {"otherwise", {{"answer", "int good;"}}}});
  const auto model = open_model(options());
  ASSERT_TRUE(model.ok());
  int good = 0;
  for (int i = 0; i < 40; ++i) {
    const auto exchange = (*model)->chat(request(fmt::format("number {}", i)));
    ASSERT_TRUE(exchange.ok()) << exchange.error().message;
    if (exchange->finish == "stop") {
      EXPECT_EQ(exchange->answer, "int good;");
      ++good;
    }
  }
  EXPECT_GE(good, 34);
  EXPECT_GT((*model)->usage().faults, 5);
  EXPECT_EQ(server().log().at("invalid"), Json::array());
}

TEST_F(ModelTest, WrongSettingsAreNamed) {
  const auto refused = [](const ModelOptions& choice) {
    auto model = open_model(choice);
    EXPECT_FALSE(model.ok());
    return model ? Error() : model.error();
  };
  expect_says(refused({}), {"no model is named"});
  ModelOptions choice = options();
  choice.protocol = "gopher";
  expect_says(refused(choice), {"no protocol 'gopher'"});
  choice = options();
  for (const char* url : {"localhost:80", "ftp://a.example", "https://"}) {
    choice.base_url = url;
    expect_says(refused(choice), {url});
  }
  choice.base_url = "https://name:" + std::string(kPlantedKey) + "@a.example/v1";
  expect_says(refused(choice), {"password"});
  choice.base_url = "https://a.example/v1?key=" + std::string(kPlantedKey);
  expect_says(refused(choice), {"'?'"});
  choice.base_url = "http://a.example/v1";
  expect_says(refused(choice), {"unencrypted"});
  choice = options();
  choice.limits.max_usd = 1;
  choice.base_url = "https://a.example/v1";
  expect_says(refused(choice), {"no price for the model 'test-model'"});
  choice = {};
  choice.model = "gpt-5";
  const ScopedVariable none("KERNELWRIGHT_API_KEY", std::nullopt), no_other("OPENAI_API_KEY", std::nullopt);
  expect_says(refused(choice), {"no key for https://api.openai.com"});
  const ScopedVariable broken("OPENAI_API_KEY", std::string(kPlantedKey) + "\nX-Other: header");
  expect_says(refused(choice), {"OPENAI_API_KEY", "line breaks"});
}

TEST_F(ModelTest, WrongConfigurationFilesAreNamed) {
  const struct {
    const char* text;
    std::vector<std::string> words;
  } cases[] = {{"[model]\nnmae = \"x\"\n", {"nmae"}},
               {"[modle]\n", {"modle"}},
               {"name = \"x\"\n", {"'name'"}},
               {"[model]\nmax_usd = \"many\"\n", {"max_usd", "number"}},
               {"[model]\nmax_usd = -1\n", {"max_usd"}},
               {"[model]\nin_flight = 1.5\n", {"in_flight", "whole number"}},
               {"[model]\nname = 3\n", {"name", "text"}},
               {"[model]\nname = \"a\n", {"line 2", "no TOML"}}};
  for (const auto& [text, words] : cases) {
    const auto file = home_.write("config.toml", text);
    const ScopedVariable config("KERNELWRIGHT_CONFIG", file.string());
    const auto model = open_model(options());
    ASSERT_FALSE(model.ok()) << text;
    expect_says(model.error(), {file.string()});
    for (const std::string& word : words) expect_says(model.error(), {word});
  }
}

TEST_F(ModelTest, FilesWithKeysThatOthersCanReadAreRefused) {
  const ScopedVariable none("KERNELWRIGHT_API_KEY", std::nullopt), no_other("OPENAI_API_KEY", std::nullopt);
  for (const auto mode : {fs::perms::group_read, fs::perms::others_read, fs::perms::group_write}) {
    const auto own = fs::perms::owner_read | fs::perms::owner_write;
    auto file = home_.write("config.toml", fmt::format("[model]\nkey = \"{}\"\n", kPlantedKey));
    fs::permissions(file, own | mode);
    const ScopedVariable config("KERNELWRIGHT_CONFIG", file.string());
    auto model = open_model(options());
    ASSERT_FALSE(model.ok());
    expect_says(model.error(), {file.string(), "others than its owner"});
    const auto key_file = home_.write("key", kPlantedKey);
    fs::permissions(key_file, own | mode);
    file = home_.write("config.toml", "[model]\nkey_file = \"key\"\n");
    model = open_model(options());
    ASSERT_FALSE(model.ok());
    expect_says(model.error(), {key_file.string(), "others than its owner"});
  }
}

TEST_F(ModelTest, ReplaysSayWhereAPromptDiffers) {
  const std::string file = (home_.write("x", "").parent_path() / "r.jsonl").string();
  ModelOptions choice = options();
  choice.record_file = file;
  {
    const auto model = open_model(choice);
    ASSERT_TRUE((*model)->chat(request("shapes\n64 x 32\nzone memory\nend")).ok());
    ASSERT_TRUE((*model)->chat(request("something else\nentirely")).ok());
  }
  choice = {};
  choice.replay_file = file;
  const auto model = open_model(choice);
  ASSERT_TRUE(model.ok()) << model.error().message;
  auto outcome = (*model)->chat(request("shapes\n64 x 32\nzone compute\nend"));
  ASSERT_FALSE(outcome.ok());
  expect_says(outcome.error(), {"translator", "exchange 1", "line 3 of message 2 (user)", "'zone memory'", "'zone compute'", file});
  outcome = (*model)->chat(request("shapes\n64 x 32\nzone memory"));
  ASSERT_FALSE(outcome.ok());
  expect_says(outcome.error(), {"only the recorded one", "'end'"});
  outcome = (*model)->chat(request("shapes", "strategist"));
  ASSERT_FALSE(outcome.ok());
  expect_says(outcome.error(), {"it has none of a strategist"});
  ASSERT_TRUE((*model)->chat(request("something else\nentirely")).ok());
  outcome = (*model)->chat(request("something else\nentirely"));
  ASSERT_FALSE(outcome.ok());
  expect_says(outcome.error(), {"no more answers", "translator"});
}

TEST_F(ModelTest, FilesThatAreNoRecordingsAreRefused) {
  for (const char* text : {"", "hello\n", "{\"purpose\": \"x\"}\n",
                           "{\"recording\": 1, \"name\": \"x\", \"context_tokens\": 5}\n{\"purpose\": 3}\n"}) {
    ModelOptions choice;
    choice.replay_file = home_.write("r.jsonl", text).string();
    const auto model = open_model(choice);
    ASSERT_FALSE(model.ok()) << text;
    expect_says(model.error(), {choice.replay_file});
  }
  ModelOptions choice;
  choice.replay_file = "no such file";
  expect_says(open_model(choice).error(), {"no such file"});
  choice = options();
  choice.record_file = home_.write("r.jsonl", "{\"recording\": 1, \"name\": \"another\", \"context_tokens\": 5}\n").string();
  expect_says(open_model(choice).error(), {"recording of 'another'"});
  choice.record_file = "/no/such/folder/file";
  expect_says(open_model(choice).error(), {"/no/such/folder/file"});
}

TEST_F(ModelTest, TheLocalModelSaysHowToGetIt) {
  ModelOptions choice;
  choice.model = "local";
  const auto model = open_model(choice);
  ASSERT_FALSE(model.ok());
  expect_says(model.error(), {"the local model is not here"});
  EXPECT_NE(model.error().hint.find("kernelwright model fetch"), std::string::npos);
}

TEST_F(ModelTest, AHelperThatDiesIsNoticed) {
  auto helper = llm::HelperProcess::start({find_program("python3"), "-c", "import sys; sys.exit('out of memory')"}, "", Json());
  ASSERT_TRUE(helper.ok());
  Json said;
  EXPECT_EQ(helper->next(said, std::chrono::seconds(20)), llm::HelperProcess::Said::gone);
  EXPECT_EQ(helper->last_words(), "out of memory");
}

// A server that quotes the key in answers and errors, with everything that is kept written down.
TEST_F(ModelTest, AKeyIsInNothingThatIsKept) {
  const std::string quoting = fmt::format("your key is {}!", kPlantedKey);
  std::string seen;
  const fs::path folder = home_.write("x", "").parent_path();
  for (const char* protocol : {"openai", "anthropic"}) {
    server().plan({{"steps",
                    {{{"answer", quoting}, {"piece", 3}},
                     {{"answer", quoting.substr(0, 20)}, {"finish", "length"}},
                     {{"answer", quoting.substr(20)}},
                     {{"answer", quoting}, {"stream", false}},
                     {{"fault", "bad_request"}, {"message", quoting}},
                     {{"fault", "echo_key"}, {"status", 500}},
                     {{"fault", "echo_key"}, {"status", 500}},
                     {{"fault", "echo_key"}, {"status", 500}},
                     {{"fault", "echo_key"}, {"status", 500}}}},
                   {"otherwise", {{"fault", "echo_key"}}}});
    ModelOptions choice = options(protocol);
    choice.record_file = (folder / (std::string(protocol) + ".jsonl")).string();
    choice.progress = [&](std::string_view text) { seen += text; };
    auto archive = testing::open_with_samples(home_.home() / "archive.db");
    ASSERT_TRUE(archive.ok());
    RunArchive runs = archive->runs();
    RunRecord run;
    run.problem_hash = testing::sample_problem().source_hash;
    run.torch_version = testing::sample_problem().torch_version;
    run.machine_id = testing::sample_machine().id;
    const auto started = runs.start(run);
    ASSERT_TRUE(started.ok());
    const auto model = open_model(choice);
    ASSERT_TRUE(model.ok()) << model.error().message;
    for (int i = 0; i < 6; ++i) {
      const auto exchange = (*model)->chat(request(fmt::format("number {}", i)));
      seen += exchange ? Json(*exchange).dump() : exchange.error().message + exchange.error().hint;
      if (exchange) {
        ASSERT_TRUE(runs.add_exchange(started->id, *exchange).ok());
      }
      if (i < 3) {
        EXPECT_EQ(exchange->answer, "your key is [key]!") << i;
      }
    }
  }
  EXPECT_NE(seen.find("[key]"), std::string::npos);
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(home_.home().parent_path()))
    if (entry.is_regular_file()) {
      seen += *read_file(entry.path());
      ++files;
    }
  EXPECT_GE(files, 3) << "two recordings and an archive";
  EXPECT_EQ(seen.find(kPlantedKey), std::string::npos)
      << seen.substr(std::max<std::size_t>(200, seen.find(kPlantedKey)) - 200, 400);
}

}  // namespace
}  // namespace kw
