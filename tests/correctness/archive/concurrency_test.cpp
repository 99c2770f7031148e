#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <random>
#include <set>
#include <thread>

#include "correctness/archive/samples.h"

namespace kw {
namespace {

using testing::open_with_samples;
using testing::sample_evaluation;
using testing::sample_timing;
using testing::start_child;
using testing::wait_for;

std::string source_of(int writer, int number) {
  return "// " + std::to_string(writer) + "/" + std::to_string(number) + "\n" + std::string(20000, 'x');  // several pages
}

std::string text_answer(const fs::path& path, std::string_view sql) {
  auto database = Database::open(path);
  if (!database) return database.error().message;
  auto query = database->prepare(sql);
  if (!query) return query.error().message;
  auto row = query->step();
  if (!row) return row.error().message;
  return *row ? query->text(0) : "";
}

TEST(ArchiveConcurrency, ManyProcessesOpenANewFileAndWriteWithoutLoss) {
  auto folder = TempFolder::make("kw-archive-writers");
  ASSERT_TRUE(folder.ok());
  const fs::path path = folder->path() / "archive.db";
  constexpr int kWriters = 6;
  constexpr int kEach = 20;
  std::vector<pid_t> children;
  for (int writer = 0; writer < kWriters; ++writer) {
    children.push_back(start_child([&] {
      auto archive = open_with_samples(path);
      if (!archive) return 2;
      for (int i = 0; i < kEach; ++i) {
        const auto id = archive->put_evaluation(sample_evaluation(source_of(writer, i)));
        if (!id || !archive->put_timing(*id, sample_timing())) return 3;
      }
      return 0;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);

  auto archive = Archive::open(path);
  ASSERT_TRUE(archive.ok()) << archive.error().message;
  for (int writer = 0; writer < kWriters; ++writer) {
    for (int i = 0; i < kEach; ++i) {
      const auto expected = sample_evaluation(source_of(writer, i));
      const auto found = archive->find_evaluation(expected.key);
      ASSERT_TRUE(found.ok() && found->has_value()) << writer << "/" << i;
      EXPECT_EQ((*found)->kernel_source, expected.kernel_source);
      EXPECT_TRUE((*found)->timing.has_value());
    }
  }
  const auto all = archive->list(std::nullopt, 10000);
  std::set<std::int64_t> ids;
  for (const auto& summary : *all) ids.insert(summary.id);
  EXPECT_EQ(ids.size(), static_cast<std::size_t>(kWriters * kEach));
  EXPECT_EQ(text_answer(path, "PRAGMA integrity_check"), "ok");
}

// Writes evaluations until it is killed, and reports each on the pipe once the archive has said that it is stored.
int write_until_killed(const fs::path& path, int report, int round) {
  auto archive = open_with_samples(path);
  if (!archive) return 2;
  for (int i = 0;; ++i) {
    const auto id = archive->put_evaluation(sample_evaluation(source_of(round, i)));
    if (!id) return 3;
    if (::write(report, &*id, sizeof *id) != sizeof *id) return 4;
    if (!archive->put_timing(*id, sample_timing())) return 5;
  }
}

TEST(ArchiveConcurrency, AKilledWriterLeavesWholeEvaluationsOnly) {
  auto folder = TempFolder::make("kw-archive-killed");
  ASSERT_TRUE(folder.ok());
  const fs::path path = folder->path() / "archive.db";
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> microseconds(0, 40000);
  std::set<std::int64_t> reported;
  for (int round = 0; round < 15; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = start_child([&] { return write_until_killed(path, ends[1], round); });
    ::close(ends[1]);
    // The first rounds may end before the file is even made: the moment is counted from the child's start.
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds(random)));
    if (round >= 5) {
      std::int64_t id = 0;  // later rounds let it write at least once, so that there is something to lose
      ASSERT_EQ(::read(ends[0], &id, sizeof id), static_cast<ssize_t>(sizeof id));
      reported.insert(id);
      std::this_thread::sleep_for(std::chrono::microseconds(microseconds(random)));
    }
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_EQ(wait_for(child), -SIGKILL);
    for (std::int64_t id = 0; ::read(ends[0], &id, sizeof id) == static_cast<ssize_t>(sizeof id);) reported.insert(id);
    ::close(ends[0]);

    auto archive = Archive::open(path);
    ASSERT_TRUE(archive.ok()) << archive.error().message;
    EXPECT_EQ(text_answer(path, "PRAGMA integrity_check"), "ok");
    std::set<std::int64_t> stored;
    const auto all = archive->list(std::nullopt, 1000000);
    ASSERT_TRUE(all.ok()) << all.error().message;
    for (const auto& summary : *all) {
      stored.insert(summary.id);
      const auto whole = archive->get_evaluation(summary.id);
      ASSERT_TRUE(whole.ok() && whole->has_value()) << summary.id;
      EXPECT_EQ(sha256((*whole)->kernel_source), (*whole)->key.kernel_hash);
      EXPECT_EQ((*whole)->key.key(), summary.key);
      EXPECT_EQ((*whole)->verdict.checks.size(), 1U);
    }
    for (const auto id : reported) EXPECT_TRUE(stored.contains(id)) << "evaluation " << id << " was reported and is lost";
  }
  EXPECT_GE(reported.size(), 10U);
}

}  // namespace
}  // namespace kw
