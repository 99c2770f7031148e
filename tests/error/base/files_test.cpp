#include "base/files.h"

#include <gtest/gtest.h>

#include "support/temp_home.h"

namespace kw {
namespace {

TEST(FilesError, MissingFileIsNamedWithTheReason) {
  const auto read = read_file("no/such/file.txt");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind, ErrorKind::bad_input);
  EXPECT_NE(read.error().message.find("no/such/file.txt"), std::string::npos);
  EXPECT_NE(read.error().message.find("No such file"), std::string::npos);
}

TEST(FilesError, AFolderIsNotAFile) {
  const TempFolder temp = std::move(TempFolder::make()).value();
  const auto read = read_file(temp.path());
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("is a folder"), std::string::npos);
}

TEST(FilesError, WritingWhereThereIsNoFolderSaysSoAndWhatToDo) {
  const TempFolder temp = std::move(TempFolder::make()).value();
  const auto written = write_file_atomically(temp.path() / "absent" / "file", "x");
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().message.find("absent/file"), std::string::npos);
  EXPECT_FALSE(written.error().hint.empty());
}

TEST(FilesError, AFailedRenameLeavesTheTargetAndNoPartialFile) {
  // A target that is a folder cannot be renamed onto: the failure comes late, after all bytes were written.
  const TempFolder temp = std::move(TempFolder::make()).value();
  ASSERT_TRUE(make_folders(temp.path() / "target" / "kept").ok());
  ASSERT_FALSE(write_file_atomically(temp.path() / "target", "x").ok());
  EXPECT_TRUE(fs::exists(temp.path() / "target" / "kept"));
  EXPECT_EQ(std::distance(fs::directory_iterator(temp.path()), fs::directory_iterator()), 1) << "the partial file was left behind";
}

TEST(FilesError, AFolderBelowAFileCannotBeMade) {
  const TempFolder temp = std::move(TempFolder::make()).value();
  ASSERT_TRUE(write_file_atomically(temp.path() / "file", "x").ok());
  const auto made = make_folders(temp.path() / "file" / "below");
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message.find("file/below"), std::string::npos);
  EXPECT_NE(made.error().hint.find("KERNELWRIGHT_CACHE"), std::string::npos);
}

TEST(FilesError, ATemporaryFolderNeedsAPlace) {
  const testing::ScopedVariable nowhere("TMPDIR", "/no/such/place");
  const auto made = TempFolder::make();
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().hint.find("TMPDIR"), std::string::npos);
}

TEST(FilesError, AWrongRootIsRefusedByName) {
  const testing::ScopedVariable root("KERNELWRIGHT_ROOT", "/usr");
  const auto found = install_root();
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().kind, ErrorKind::bad_input);
  EXPECT_NE(found.error().message.find("KERNELWRIGHT_ROOT=/usr"), std::string::npos);
}

}  // namespace
}  // namespace kw
