#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "archive/migrations.h"
#include "correctness/archive/samples.h"

namespace kw {
namespace {

using testing::open_with_samples;
using testing::sample_evaluation;
using testing::sample_timing;
using testing::start_child;
using testing::wait_for;

class ArchiveErrorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = TempFolder::make("kw-archive-error");
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(*folder));
    path_ = folder_->path() / "archive.db";
  }

  // Opening fails, says these words and names the file, and the file is as it was.
  void expect_refused(const std::string& words, const std::string& hint) {
    const auto before = read_file(path_);
    const auto archive = Archive::open(path_);
    ASSERT_FALSE(archive.ok());
    EXPECT_NE(archive.error().message.find(words), std::string::npos) << archive.error().message;
    EXPECT_NE(archive.error().message.find(path_.string()), std::string::npos) << archive.error().message;
    EXPECT_NE(archive.error().hint.find(hint), std::string::npos) << archive.error().hint;
    EXPECT_EQ(*read_file(path_), *before);
  }

  void make_archive(int evaluations) {
    auto archive = open_with_samples(path_);
    ASSERT_TRUE(archive.ok()) << archive.error().message;
    for (int i = 0; i < evaluations; ++i) {
      const auto source = "// " + std::to_string(i) + std::string(5000, 'x');
      ASSERT_TRUE(archive->put_evaluation(sample_evaluation(source)).ok());
    }
  }

  std::optional<TempFolder> folder_;
  fs::path path_;
};

TEST_F(ArchiveErrorTest, GarbageIsRefusedAndKept) {
  ASSERT_TRUE(write_file_atomically(path_, std::string(5000, 'g')).ok());
  expect_refused("is damaged or is no SQLite file", "mv '" + path_.string() + "'");
}

TEST_F(ArchiveErrorTest, ATruncatedFileIsRefusedAndKept) {
  make_archive(20);
  const auto whole = read_file(path_);
  for (const std::size_t kept : {whole->size() / 2, std::size_t{4096}, std::size_t{100}, std::size_t{2}}) {
    ASSERT_TRUE(write_file_atomically(path_, whole->substr(0, kept)).ok());
    SCOPED_TRACE(kept);
    expect_refused("is damaged", ".recover");
  }
}

TEST_F(ArchiveErrorTest, ADamagedSchemaIsRefusedAndKept) {
  make_archive(3);
  auto bytes = *read_file(path_);
  for (std::size_t i = 100; i < 4096; ++i) bytes[i] = static_cast<char>(i * 7);  // the page of the schema
  ASSERT_TRUE(write_file_atomically(path_, bytes).ok());
  expect_refused("is damaged", ".recover");
}

TEST_F(ArchiveErrorTest, DamageFurtherInIsAnErrorWhereItIsMet) {
  make_archive(50);
  auto bytes = *read_file(path_);
  for (std::size_t i = bytes.size() / 4; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  ASSERT_TRUE(write_file_atomically(path_, bytes).ok());
  auto archive = Archive::open(path_);
  ASSERT_TRUE(archive.ok());
  const auto all = archive->list();
  ASSERT_FALSE(all.ok());
  EXPECT_NE(all.error().message.find("is damaged"), std::string::npos) << all.error().message;
}

TEST_F(ArchiveErrorTest, AnArchiveOfANewerVersionIsRefusedAndKept) {
  make_archive(1);
  {
    const auto database = Database::open(path_);
    ASSERT_TRUE(database->execute("PRAGMA user_version = 1000").ok());
  }
  expect_refused("has schema version 1000", "newer kernelwright");
}

TEST_F(ArchiveErrorTest, AnotherProgramsDatabaseIsRefusedAndKept) {
  {
    const auto database = Database::open(path_);
    ASSERT_TRUE(database->execute("CREATE TABLE recipes (name TEXT)").ok());
  }
  expect_refused("of another program", "name another file");
}

TEST_F(ArchiveErrorTest, AFolderIsRefused) {
  fs::create_directory(path_);
  const auto archive = Archive::open(path_);
  ASSERT_FALSE(archive.ok());
  EXPECT_NE(archive.error().message.find("is a folder"), std::string::npos) << archive.error().message;
}

TEST_F(ArchiveErrorTest, APathUnderAFileIsRefused) {
  ASSERT_TRUE(write_file_atomically(folder_->path() / "file", "x").ok());
  const auto archive = Archive::open(folder_->path() / "file" / "archive.db");
  ASSERT_FALSE(archive.ok());
  EXPECT_NE(archive.error().message.find((folder_->path() / "file").string()), std::string::npos) << archive.error().message;
}

// Runs as a user without root's power to write anywhere; the child's exit status says what it met.
int as_ordinary_user(const std::function<int()>& work) {
  return wait_for(start_child([&] {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return 99;
    return work();
  }));
}

int open_and_expect_write_error(const fs::path& path) {
  const auto archive = Archive::open(path);
  if (archive) return 1;
  const bool clear = archive.error().message.find(path.string()) != std::string::npos &&
                     archive.error().message.find("write") != std::string::npos &&
                     archive.error().hint.find("permissions") != std::string::npos;
  if (!clear) fprintf(stderr, "%s (%s)\n", archive.error().message.c_str(), archive.error().hint.c_str());
  return clear ? 0 : 2;
}

TEST_F(ArchiveErrorTest, AReadOnlyFolderIsAClearError) {
  ASSERT_EQ(::chmod(folder_->path().c_str(), 0555), 0);
  const int outcome = as_ordinary_user([&] { return open_and_expect_write_error(path_); });
  ::chmod(folder_->path().c_str(), 0755);
  if (outcome == 99) GTEST_SKIP() << "cannot become an ordinary user here";
  EXPECT_EQ(outcome, 0);
}

TEST_F(ArchiveErrorTest, AReadOnlyArchiveIsAClearError) {
  make_archive(1);
  ASSERT_EQ(::chmod(path_.c_str(), 0444), 0);
  ASSERT_EQ(::chmod(folder_->path().c_str(), 0555), 0);
  const int outcome = as_ordinary_user([&] { return open_and_expect_write_error(path_); });
  ::chmod(folder_->path().c_str(), 0755);
  if (outcome == 99) GTEST_SKIP() << "cannot become an ordinary user here";
  EXPECT_EQ(outcome, 0);
}

// Fills a file system of one megabyte; 0: the error was clear and what was stored before is intact.
int fill_small_disk(const fs::path& folder) {
  const std::string user = "0 " + std::to_string(::geteuid()) + " 1";
  const std::string group = "0 " + std::to_string(::getegid()) + " 1";
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return 99;
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << user;
  std::ofstream("/proc/self/gid_map") << group;
  if (::mount("none", folder.c_str(), "tmpfs", 0, "size=1m") != 0) return 99;
  auto archive = open_with_samples(folder / "archive.db");
  if (!archive) return 1;
  std::size_t stored = 0;
  for (; stored < 1000; ++stored) {
    const auto id = archive->put_evaluation(sample_evaluation(std::to_string(stored) + std::string(20000, 'x')));
    if (id) continue;
    if (id.error().message.find("no space left") == std::string::npos) return 2;
    if (id.error().hint.find("free some disk space") == std::string::npos) return 3;
    break;
  }
  if (stored == 0 || stored == 1000) return 4;
  const auto all = archive->list(std::nullopt, 1000);
  return all && all->size() == stored ? 0 : 5;
}

TEST_F(ArchiveErrorTest, AFullDiskIsAClearErrorAndLosesNothing) {
  const int outcome = wait_for(start_child([&] { return fill_small_disk(folder_->path()); }));
  if (outcome == 99) GTEST_SKIP() << "user namespaces are not allowed here";
  EXPECT_EQ(outcome, 0);
}

TEST_F(ArchiveErrorTest, AnEvaluationOfAnUnknownProblemOrMachineIsRefused) {
  auto archive = open_with_samples(path_);
  ASSERT_TRUE(archive.ok());
  auto evaluation = sample_evaluation();
  evaluation.key.machine_id = "unknown";
  auto outcome = archive->put_evaluation(evaluation);
  ASSERT_FALSE(outcome.ok());
  EXPECT_NE(outcome.error().message.find("its machine (unknown)"), std::string::npos) << outcome.error().message;
  evaluation = sample_evaluation();
  evaluation.key.torch_version = "9.9";
  outcome = archive->put_evaluation(evaluation);
  ASSERT_FALSE(outcome.ok());
  EXPECT_NE(outcome.error().message.find("PyTorch 9.9"), std::string::npos) << outcome.error().message;
  EXPECT_TRUE(archive->list()->empty());
}

TEST_F(ArchiveErrorTest, ATimingOfAnUnknownEvaluationIsRefused) {
  auto archive = open_with_samples(path_);
  ASSERT_TRUE(archive.ok());
  const auto outcome = archive->put_timing(12345, sample_timing());
  ASSERT_FALSE(outcome.ok());
  EXPECT_NE(outcome.error().message.find("no evaluation 12345"), std::string::npos) << outcome.error().message;
}

TEST_F(ArchiveErrorTest, AListingOfNothingIsRefused) {
  auto archive = open_with_samples(path_);
  ASSERT_TRUE(archive.ok());
  EXPECT_FALSE(archive->list(std::nullopt, 0).ok());
}

TEST_F(ArchiveErrorTest, ARecordOfAnUnknownShapeIsAnErrorThatNamesIt) {
  make_archive(1);
  {
    const auto database = Database::open(path_);
    ASSERT_TRUE(database->execute("UPDATE evaluations SET verdict_record = '{\"verdict\": \"splendid\"}'").ok());
  }
  auto archive = Archive::open(path_);
  const auto found = archive->get_evaluation(1);
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().message.find("the archived evaluation 1 in " + path_.string()), std::string::npos)
      << found.error().message;
  EXPECT_NE(found.error().message.find("splendid"), std::string::npos) << found.error().message;
}

TEST_F(ArchiveErrorTest, TheSchemaRefusesHalfARecord) {
  make_archive(1);
  const auto database = Database::open(path_);
  EXPECT_FALSE(database->execute("UPDATE evaluations SET verdict_record = '{\"verdict\": '").ok());
  EXPECT_FALSE(database->execute("UPDATE evaluations SET versions = '{}'").ok());
  EXPECT_FALSE(database->execute("UPDATE evaluations SET kernel_source = NULL").ok());
}

TEST(DatabaseErrors, AMissingParameterIsReported) {
  auto folder = TempFolder::make("kw-database-error");
  const auto database = Database::open(folder->path() / "a.db");
  ASSERT_TRUE(database.ok());
  auto statement = database->prepare("SELECT ?1");
  EXPECT_FALSE(statement->bind(2, "no such parameter").step().ok());
  EXPECT_FALSE(database->prepare("SELEKT 1").ok());
}

}  // namespace
}  // namespace kw
