#include "archive/migrations.h"

#include <gtest/gtest.h>

#include <vector>

namespace kw {
namespace {

const Migration kOne{"one", "CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1)"};
const Migration kTwo{"two", "ALTER TABLE a ADD COLUMN y INTEGER NOT NULL DEFAULT 5; -- with a comment\n"};
const Migration kBroken{"broken", "INSERT INTO a (x) VALUES (2); INSERT INTO nowhere VALUES (1)"};

class MigrationsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = TempFolder::make("kw-migrations-test");
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(*folder));
    auto database = Database::open(folder_->path() / "a.db");
    ASSERT_TRUE(database.ok());
    database_.emplace(std::move(*database));
  }
  std::int64_t ask(std::string_view sql) { return *database_->query_integer(sql); }

  std::optional<TempFolder> folder_;
  std::optional<Database> database_;
};

TEST_F(MigrationsTest, RunsEachStepOnceAndInOrder) {
  const std::vector<Migration> first{kOne};
  ASSERT_TRUE(migrate(*database_, first).ok());
  EXPECT_EQ(ask("PRAGMA user_version"), 1);
  const std::vector<Migration> both{kOne, kTwo};
  ASSERT_TRUE(check_is_archive(*database_, both).ok());
  ASSERT_TRUE(migrate(*database_, both).ok());
  ASSERT_TRUE(migrate(*database_, both).ok());
  EXPECT_EQ(ask("PRAGMA user_version"), 2);
  EXPECT_EQ(ask("SELECT sum(y) FROM a"), 5);
}

TEST_F(MigrationsTest, AStepThatFailsIsUndoneWhole) {
  const std::vector<Migration> steps{kOne, kBroken, kTwo};
  const auto outcome = migrate(*database_, steps);
  ASSERT_FALSE(outcome.ok());
  EXPECT_NE(outcome.error().message.find("from schema version 1 to 2 (broken)"), std::string::npos) << outcome.error().message;
  EXPECT_EQ(ask("PRAGMA user_version"), 1);
  EXPECT_EQ(ask("SELECT count(*) FROM a"), 1);
  const std::vector<Migration> mended{kOne, kTwo};
  EXPECT_TRUE(migrate(*database_, mended).ok());
  EXPECT_EQ(ask("PRAGMA user_version"), 2);
}

TEST_F(MigrationsTest, AWriterThatWaitedDoesNotRepeatAStep) {
  auto other = Database::open(folder_->path() / "a.db");
  ASSERT_TRUE(other.ok());
  const std::vector<Migration> steps{kOne};
  ASSERT_TRUE(migrate(*database_, steps).ok());
  ASSERT_TRUE(migrate(*other, steps).ok());
  EXPECT_EQ(ask("SELECT count(*) FROM a"), 1);
}

TEST_F(MigrationsTest, TheArchivesOwnStepsLeadToTheNewestVersion) {
  ASSERT_TRUE(migrate(*database_, archive_migrations()).ok());
  EXPECT_EQ(ask("PRAGMA user_version"), static_cast<std::int64_t>(archive_migrations().size()));
  EXPECT_EQ(ask("SELECT count(*) FROM sqlite_schema WHERE name IN ('problems', 'machines', 'evaluations')"), 3);
}

}  // namespace
}  // namespace kw
