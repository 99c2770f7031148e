// The archive and its folder are for their owner alone, from the first moment and where an earlier version left them open.
#include "archive/owner_only.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "correctness/archive/samples.h"

namespace kw {
namespace {

using testing::open_with_samples;

int mode_of(const fs::path& path) {
  struct stat state {};
  EXPECT_EQ(::stat(path.c_str(), &state), 0) << path;
  return static_cast<int>(state.st_mode & 07777);
}

class OwnerOnlyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = ::umask(0022);  // what most users have
    folder_.emplace(std::move(TempFolder::make("kw-owner-test")).value());
    home_ = folder_->path() / "share" / "kernelwright";
    path_ = home_ / "archive.db";
  }
  void TearDown() override { ::umask(before_); }

  void expect_closed() const {
    for (const char* end : {"", "-wal", "-shm"}) EXPECT_EQ(mode_of(path_.string() + end), 0600) << end;
  }
  void open_up() const {
    ASSERT_EQ(::chmod(home_.c_str(), 0755), 0);
    for (const char* end : {"", "-wal", "-shm"}) ASSERT_EQ(::chmod((path_.string() + end).c_str(), 0644), 0) << end;
  }

  mode_t before_ = 0;
  std::optional<TempFolder> folder_;
  fs::path home_, path_;
};

TEST_F(OwnerOnlyTest, ANewArchiveAndItsFolderAreForTheirOwner) {
  const auto archive = open_with_samples(path_);
  ASSERT_TRUE(archive.ok());
  expect_closed();
  EXPECT_EQ(mode_of(home_), 0700);
  EXPECT_EQ(mode_of(home_.parent_path()), 0755) << "a folder above it may be anyone's";
}

TEST_F(OwnerOnlyTest, OpeningClosesWhatAnEarlierVersionLeftOpen) {
  const auto writer = open_with_samples(path_);  // keeps its -wal and -shm there
  ASSERT_TRUE(writer.ok());
  fs::create_directories(home_ / "locks");
  fs::create_directories(home_ / "parts");
  open_up();
  ASSERT_TRUE(Archive::open(path_).ok());
  expect_closed();
  EXPECT_EQ(mode_of(home_), 0700);
}

TEST_F(OwnerOnlyTest, LookingClosesItToo) {
  const auto writer = open_with_samples(path_);
  ASSERT_TRUE(writer.ok());
  open_up();
  ASSERT_TRUE(Archive::open_to_read(path_).ok());
  expect_closed();
  EXPECT_EQ(mode_of(home_), 0700);
}

TEST_F(OwnerOnlyTest, AFolderThatHoldsOtherThingsStaysAsItIs) {
  fs::create_directories(home_);
  ASSERT_EQ(::chmod(home_.c_str(), 0755), 0);
  ASSERT_TRUE(write_file_atomically(home_ / "notes.txt", "mine").ok());
  const auto archive = open_with_samples(path_);
  ASSERT_TRUE(archive.ok());
  expect_closed();
  EXPECT_EQ(mode_of(home_), 0755);
  EXPECT_EQ(mode_of(home_ / "notes.txt"), 0644);
}

TEST_F(OwnerOnlyTest, AFileUnderAnotherNameClosesNoFolder) {
  fs::create_directories(home_);
  ASSERT_EQ(::chmod(home_.c_str(), 0755), 0);
  path_ = home_ / "x.db";
  const auto archive = open_with_samples(path_);
  ASSERT_TRUE(archive.ok());
  expect_closed();
  EXPECT_EQ(mode_of(home_), 0755);
}

TEST_F(OwnerOnlyTest, AnotherProgramsFileKeepsItsMode) {
  fs::create_directories(home_);
  {
    const auto database = Database::open(path_);
    ASSERT_TRUE(database.ok() && database->execute("CREATE TABLE recipes (name TEXT)").ok());
  }
  ASSERT_EQ(::chmod(path_.c_str(), 0644), 0);
  ASSERT_EQ(::chmod(home_.c_str(), 0755), 0);
  EXPECT_FALSE(Archive::open(path_).ok());
  EXPECT_EQ(mode_of(path_), 0644);
  EXPECT_EQ(mode_of(home_), 0755);
}

TEST_F(OwnerOnlyTest, ClosingKeepsTheLocksOfOtherConnections) {
  const auto writer = open_with_samples(path_);
  ASSERT_TRUE(writer.ok());
  const auto database = Database::open(path_);
  ASSERT_TRUE(database.ok());
  const auto transaction = Transaction::begin(*database);
  ASSERT_TRUE(transaction.ok());
  open_up();
  const auto locks_on = [](const fs::path& file) {
    struct stat state {};
    EXPECT_EQ(::stat(file.c_str(), &state), 0);
    const std::string inode = ":" + std::to_string(state.st_ino) + " ";
    std::size_t count = 0;
    const std::string locks = read_file("/proc/locks").value();
    for (std::size_t at = locks.find(inode); at != std::string::npos; at = locks.find(inode, at + 1)) ++count;
    return count;
  };
  const std::size_t held = locks_on(path_) + locks_on(path_.string() + "-shm");
  ASSERT_GT(held, 0U);
  close_to_others(path_);
  EXPECT_EQ(locks_on(path_) + locks_on(path_.string() + "-shm"), held);
}

}  // namespace
}  // namespace kw
