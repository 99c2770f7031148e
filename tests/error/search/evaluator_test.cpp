#include "search/evaluator.h"

#include <gtest/gtest.h>

#include "support/planted_machine.h"
#include "support/temp_home.h"

namespace kw {
namespace {

std::string refusal(const EvaluatorOptions& options) {
  const auto opened = Evaluator::open(options);
  EXPECT_FALSE(opened.ok());
  return opened.ok() ? "" : opened.error().message;
}

TEST(EvaluatorError, OptionsThatCannotBeMetAreNamed) {
  const testing::TempHome home;
  testing::plant_machine();
  EvaluatorOptions options;
  options.precision = "float8";
  EXPECT_NE(refusal(options).find("float8"), std::string::npos);
  options = {};
  options.threads = 100000;
  EXPECT_NE(refusal(options).find("--threads 100000"), std::string::npos);
}

TEST(EvaluatorError, ASandboxThatIsNotThereIsNotReplacedByNone) {
  const testing::TempHome home;
  testing::plant_machine();
  const testing::ScopedVariable path("PATH", ""), only("KERNELWRIGHT_SANDBOX", "no-such-sandbox");
  EXPECT_FALSE(Evaluator::open({}).ok());
}

TEST(EvaluatorError, AnArchiveThatIsNoneStopsTheEvaluator) {
  const testing::TempHome home;
  testing::plant_machine();
  ASSERT_TRUE(make_folders(home.home()).ok());
  ASSERT_TRUE(write_file_atomically(home.home() / "archive.db", "not a database, and somebody's only copy").ok());
  EXPECT_FALSE(Evaluator::open({}).ok());
  EXPECT_EQ(*read_file(home.home() / "archive.db"), "not a database, and somebody's only copy");
}

}  // namespace
}  // namespace kw
