#include "base/subprocess.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(SubprocessError, AProgramThatIsNotThereIsAnErrorWithItsName) {
  Command command;
  command.argv = {"no-such-program-anywhere", "x"};
  const auto outcome = run_command(command);
  ASSERT_FALSE(outcome.ok());
  EXPECT_NE(outcome.error().message.find("no-such-program-anywhere"), std::string::npos);
  EXPECT_NE(outcome.error().hint.find("doctor"), std::string::npos);
}

TEST(SubprocessError, AFolderThatIsNotThereIsAnError) {
  Command command;
  command.argv = {"true"};
  command.folder = "/no/such/folder";
  EXPECT_FALSE(run_command(command).ok());
}

TEST(SubprocessError, AProgramThatExitsWith127HasStarted) {
  Command command;
  command.argv = {"sh", "-c", "exit 127"};
  const auto outcome = run_command(command);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->exit_code, 127);
}

}  // namespace
}  // namespace kw
