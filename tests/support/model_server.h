// The fault-injecting server of model_server.py for tests in C++: one process for all tests, given a new plan by each.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/json.h"
#include "base/subprocess.h"
#include "llm/helper_process.h"
#include "llm/http.h"
#include "llm/model.h"
#include "support/temp_home.h"

namespace kw::testing {

// Long enough to be searched for, and like no other text.
inline constexpr const char* kPlantedKey = "sk-planted-7f3a9c51e2";

class ModelServer {
 public:
  static ModelServer& shared() {
    static ModelServer server;
    return server;
  }

  void plan(Json plan) const {
    plan["key"] = kPlantedKey;
    llm::HttpRequest request;
    request.url = url_ + "/plan";
    request.body = plan.dump();
    ASSERT_EQ(llm::http(request).status, 200);
  }
  [[nodiscard]] Json log() const {
    llm::HttpRequest request;
    request.url = url_ + "/log";
    auto json = parse_json(llm::http(request).body, "the log");
    EXPECT_TRUE(json.ok());
    return json ? *json : Json();
  }
  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] const std::string& refused_url() const { return refused_url_; }

 private:
  ModelServer() {
    auto started = llm::HelperProcess::start({find_program("python3"), test_file("support/model_server.py").string()}, "", Json());
    EXPECT_TRUE(started.ok());
    process_ = std::make_unique<llm::HelperProcess>(std::move(*started));
    Json said;
    EXPECT_EQ(process_->next(said, std::chrono::seconds(60)), llm::HelperProcess::Said::something) << process_->last_words();
    url_ = said.value("url", "");
    refused_url_ = said.value("refused_url", "");
  }
  std::unique_ptr<llm::HelperProcess> process_;
  std::string url_, refused_url_;
};

// A test that talks to the server: a planted key in the environment, no configuration file, waits of a millisecond.
class ModelTest : public ::testing::Test {
 protected:
  ModelTest() { server().plan(Json::object()); }

  static ModelServer& server() { return ModelServer::shared(); }

  static ModelOptions options(const std::string& protocol = "openai") {
    ModelOptions options;
    options.model = "test-model";
    options.protocol = protocol;
    options.base_url = server().url() + (protocol == "openai" ? "/v1" : "");
    options.limits.attempts = 4;
    options.limits.backoff_seconds = 0.001;
    return options;
  }

  static ChatRequest request(const std::string& text = "Write a kernel.", const std::string& purpose = "translator") {
    ChatRequest request;
    request.purpose = purpose;
    request.messages = {{"system", "You write kernels."}, {"user", text}};
    return request;
  }

  // One exchange with a model that is opened for it.
  static Result<Exchange> ask(const ModelOptions& options, const ChatRequest& request) {
    KW_TRY(const auto model, open_model(options));
    return model->chat(request);
  }

  TempHome home_{CacheIs::own};
  ScopedVariable key_{"KERNELWRIGHT_API_KEY", kPlantedKey};
  ScopedVariable config_{"KERNELWRIGHT_CONFIG", (home_.home() / "config.toml").string()};
  ScopedVariable model_name_{"KERNELWRIGHT_MODEL", std::nullopt};
  ScopedVariable base_url_{"KERNELWRIGHT_BASE_URL", std::nullopt};
};

}  // namespace kw::testing
