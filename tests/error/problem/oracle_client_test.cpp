#include "problem/oracle_client.h"

#include <gtest/gtest.h>

#include "problem/problem_source.h"
#include "support/temp_home.h"

namespace kw {
namespace {

std::string problem(const std::string& inputs, const std::string& forward = "return x") {
  return "import os, time, torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        " + forward +
         "\n\ndef get_inputs():\n    " + inputs + "\n\ndef get_init_inputs():\n    return []\n";
}

class OracleErrorTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    home_ = new testing::TempHome(testing::CacheIs::own);
    oracle_ = new OracleClient({1, {}, {}});
  }
  static void TearDownTestSuite() {
    delete oracle_;
    delete home_;
  }
  static Error error_of(const std::string& name, const std::string& text) {
    const auto loaded = load_problem(home_->write(name, text), *oracle_);
    EXPECT_FALSE(loaded.ok()) << name;
    return loaded.ok() ? Error{} : loaded.error();
  }

  static inline testing::TempHome* home_ = nullptr;
  static inline OracleClient* oracle_ = nullptr;
};

TEST_F(OracleErrorTest, BrokenProblemsAreTheUsersAndNamed) {
  const auto missing = load_problem("no/such/problem.py", *oracle_);
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("no/such/problem.py"), std::string::npos);
  const std::pair<const char*, std::string> files[] = {
      {"syntax.py", "def get_inputs(:\n"},
      {"raises.py", problem("return [torch.randn(3)]", "raise ValueError('so it is')")},
      {"raises_at_import.py", "raise RuntimeError('at once')\n"},
      {"no_model.py", "x = 1\n"},
      {"exits.py", problem("raise SystemExit(0)")},
      {"empty.py", ""}};
  for (const auto& [name, text] : files) {
    const Error error = error_of(name, text);
    EXPECT_EQ(error.kind, ErrorKind::bad_input) << name << ": " << error.message;
    EXPECT_NE(error.message.find(name), std::string::npos) << error.message;
    EXPECT_EQ(error.message.find("Traceback"), std::string::npos) << error.message;
  }
  EXPECT_NE(error_of("raises2.py", problem("return [torch.randn(3)]", "raise ValueError('so it is')")).message.find("so it is"),
            std::string::npos);
  const auto unknown = oracle_->ask("frobnicate", Json::object());
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("frobnicate"), std::string::npos);
  EXPECT_EQ(oracle_->generation(), 1) << "none of these ends the oracle";
}

TEST_F(OracleErrorTest, OneThatDiesTwiceIsNotAskedAThirdTime) {
  const Error error = error_of("dies.py", problem("os.kill(os.getpid(), 9)"));
  EXPECT_NE(error.message.find("died twice"), std::string::npos) << error.message;
  EXPECT_EQ(error.kind, ErrorKind::internal);
}

TEST_F(OracleErrorTest, OneThatDoesNotAnswerIsEndedAndStartedAnew) {
  ASSERT_TRUE(oracle_->hello().ok());
  const int generation = oracle_->generation();
  const fs::path file = home_->write("sleeps.py", problem("time.sleep(1000)"));
  const auto late = oracle_->ask("describe", {{"problem", file.string()}}, std::chrono::seconds(1));
  ASSERT_FALSE(late.ok());
  EXPECT_NE(late.error().message.find("'describe' within 1 s"), std::string::npos) << late.error().message;
  EXPECT_TRUE(oracle_->hello().ok());
  EXPECT_EQ(oracle_->generation(), generation + 1);
}

TEST(OraclePythonError, AWrongInterpreterIsNamed) {
  const testing::TempHome home(testing::CacheIs::own);
  {
    const testing::ScopedVariable python("KERNELWRIGHT_PYTHON", "no-such-python");
    OracleClient oracle({1, {}, {}});
    const auto hello = oracle.hello();
    ASSERT_FALSE(hello.ok());
    EXPECT_NE(hello.error().message.find("KERNELWRIGHT_PYTHON=no-such-python"), std::string::npos);
  }
  const testing::ScopedVariable python("KERNELWRIGHT_PYTHON", "false");
  OracleClient oracle({1, {}, {}});
  const auto hello = oracle.hello();
  ASSERT_FALSE(hello.ok());
  EXPECT_NE(hello.error().hint.find("doctor"), std::string::npos);
}

TEST(TorchVersion, OfAFolderWithoutPyTorchIsUnknown) {
  const testing::TempHome home(testing::CacheIs::own);
  EXPECT_EQ(torch_version_on_disk((home.cache() / "bin" / "python").string()), "");
  const fs::path file = home.write("lib/python3.11/site-packages/torch-2.9.1+cpu.dist-info/METADATA", "");
  const fs::path root = file.parent_path().parent_path().parent_path().parent_path().parent_path();
  EXPECT_EQ(torch_version_on_disk((root / "bin" / "python").string()), "2.9.1+cpu");
}

}  // namespace
}  // namespace kw
