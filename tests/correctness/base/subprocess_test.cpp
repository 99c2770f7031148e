#include "base/subprocess.h"

#include <gtest/gtest.h>

#include <csignal>

#include "base/files.h"
#include "support/temp_home.h"

namespace kw {
namespace {

using std::chrono::milliseconds;

CommandOutcome run(Command command) {
  auto outcome = run_command(command);
  EXPECT_TRUE(outcome.ok()) << (outcome.ok() ? "" : outcome.error().message);
  return outcome.ok() ? *outcome : CommandOutcome{};
}
Command shell(const std::string& text) {
  Command command;
  command.argv = {"sh", "-c", text};
  return command;
}

TEST(Subprocess, KeepsTheTwoStreamsAndTheExitCodeApart) {
  const auto outcome = run(shell("echo to out; echo to err >&2; exit 7"));
  EXPECT_EQ(outcome.out, "to out\n");
  EXPECT_EQ(outcome.err, "to err\n");
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_FALSE(outcome.succeeded());
}

TEST(Subprocess, PassesArgumentsWithoutAShell) {
  Command command;
  command.argv = {"printf", "%s|%s", "a b; echo $HOME", "*"};
  EXPECT_EQ(run(command).out, "a b; echo $HOME|*");
}

TEST(Subprocess, AddsToTheEnvironmentAndGoesToTheFolder) {
  const testing::ScopedVariable ours("KW_TEST_OURS", "kept");
  const TempFolder temp = std::move(TempFolder::make()).value();
  Command command = shell("echo $KW_TEST_OURS $KW_TEST_ADDED; pwd -P");
  command.environment = {{"KW_TEST_ADDED", "added"}};
  command.folder = temp.path().string();
  EXPECT_EQ(run(command).out, "kept added\n" + fs::canonical(temp.path()).string() + "\n");
  EXPECT_EQ(std::getenv("KW_TEST_ADDED"), nullptr);
}

TEST(Subprocess, TellsASignalFromAnExit) {
  const auto outcome = run(shell("kill -SEGV $$"));
  EXPECT_EQ(outcome.signal, SIGSEGV);
  EXPECT_FALSE(outcome.succeeded());
}

TEST(Subprocess, StandardInputIsEmpty) {
  Command command;
  command.argv = {"cat"};
  const auto outcome = run(command);
  EXPECT_TRUE(outcome.succeeded());
  EXPECT_EQ(outcome.out, "");
}

TEST(Subprocess, DropsWhatIsBeyondTheCapAndStillEnds) {
  Command command = shell("head -c 3000000 /dev/zero | tr '\\0' 'x'; head -c 3000000 /dev/zero | tr '\\0' 'y' >&2");
  command.output_cap = 1000;
  const auto outcome = run(command);
  EXPECT_TRUE(outcome.succeeded());
  EXPECT_EQ(outcome.out, std::string(1000, 'x'));
  EXPECT_EQ(outcome.err, std::string(1000, 'y'));
}

TEST(Subprocess, TheDeadlineEndsTheWholeGroup) {
  const TempFolder temp = std::move(TempFolder::make()).value();
  const std::string pid_file = (temp.path() / "pid").string();
  Command command = shell("sleep 1000 & echo $! > " + pid_file + "; echo begun; wait");
  command.deadline = milliseconds(400);
  const auto outcome = run(command);
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_FALSE(outcome.succeeded());
  EXPECT_EQ(outcome.out, "begun\n") << "what it printed before the deadline is kept";
  const pid_t grandchild = std::atoi(read_file(pid_file)->c_str());
  ASSERT_GT(grandchild, 0);
  // Killed, though perhaps still a zombie of init's: its state says so.
  for (int i = 0; i < 200 && fs::exists("/proc/" + std::to_string(grandchild)); ++i) {
    const auto stat = read_file("/proc/" + std::to_string(grandchild) + "/stat");
    if (!stat || stat->find(") Z") != std::string::npos || stat->find(") X") != std::string::npos) return;
    ::usleep(10000);
  }
  EXPECT_FALSE(fs::exists("/proc/" + std::to_string(grandchild)));
}

TEST(Subprocess, TheDeadlineHoldsForOneThatClosedItsOutput) {
  Command command = shell("exec >&- 2>&-; sleep 1000");
  command.deadline = milliseconds(300);
  EXPECT_TRUE(run(command).timed_out);
}

TEST(Subprocess, WhatIsLeftInTheGroupEndsWithTheCommand) {
  const auto outcome = run(shell("sleep 1000 >/dev/null 2>&1 & echo $!"));
  EXPECT_TRUE(outcome.succeeded());
  const pid_t left = std::atoi(outcome.out.c_str());
  ASSERT_GT(left, 0);
  for (int i = 0; i < 200; ++i) {
    const auto stat = read_file("/proc/" + std::to_string(left) + "/stat");
    if (!stat || stat->find(") Z") != std::string::npos) return;
    ::usleep(10000);
  }
  FAIL() << "process " << left << " still runs";
}

TEST(FindProgram, LooksOnThePathOnly) {
  EXPECT_TRUE(fs::exists(find_program("sh")));
  EXPECT_EQ(find_program("no-such-program-anywhere"), "");
  const testing::ScopedVariable path("PATH", "");
  EXPECT_EQ(find_program("sh"), "");
}

TEST(FindProgram, AFolderOrAPlainFileIsNoProgram) {
  const TempFolder temp = std::move(TempFolder::make()).value();
  ASSERT_TRUE(make_folders(temp.path() / "a" / "tool").ok());
  ASSERT_TRUE(make_folders(temp.path() / "b").ok());
  ASSERT_TRUE(write_file_atomically(temp.path() / "b" / "tool", "not executable").ok());
  ASSERT_TRUE(make_folders(temp.path() / "c").ok());
  ASSERT_TRUE(write_file_atomically(temp.path() / "c" / "tool", "#!/bin/sh\n").ok());
  fs::permissions(temp.path() / "c" / "tool", fs::perms::owner_all);
  const auto in = [&](const char* name) { return (temp.path() / name).string(); };
  const testing::ScopedVariable path("PATH", in("a") + ":" + in("b") + ":" + in("c"));
  EXPECT_EQ(find_program("tool"), in("c") + "/tool");
}

}  // namespace
}  // namespace kw
