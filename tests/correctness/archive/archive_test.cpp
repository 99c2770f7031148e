#include "archive/archive.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "correctness/archive/samples.h"

namespace kw {
namespace {

using testing::open_with_samples;
using testing::sample_evaluation;
using testing::sample_machine;
using testing::sample_problem;
using testing::sample_timing;

class ArchiveTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = TempFolder::make("kw-archive-test");
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(*folder));
    path_ = folder_->path() / "deep" / "er" / "archive.db";
  }

  Archive open() {
    auto archive = open_with_samples(path_);
    EXPECT_TRUE(archive.ok()) << archive.error().message;
    return std::move(*archive);
  }

  std::optional<TempFolder> folder_;
  fs::path path_;
};

Json json_of(const auto& record) { return Json(record); }

TEST_F(ArchiveTest, LivesInTheDataHome) {
  const char* before = std::getenv("KERNELWRIGHT_HOME");
  const std::string kept = before ? before : "";
  ::setenv("KERNELWRIGHT_HOME", folder_->path().c_str(), 1);
  EXPECT_EQ(Archive::default_path(), folder_->path() / "archive.db");
  before ? ::setenv("KERNELWRIGHT_HOME", kept.c_str(), 1) : ::unsetenv("KERNELWRIGHT_HOME");
}

TEST_F(ArchiveTest, GivesAProblemBackAsItWas) {
  auto archive = open();
  auto problem = sample_problem("conv");
  problem.flops.reset();
  problem.graph_error = "no graph";
  ASSERT_TRUE(archive.put_problem(problem).ok());
  const auto found = archive.find_problem(problem.source_hash, problem.torch_version);
  ASSERT_TRUE(found.ok()) << found.error().message;
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ(json_of(**found), json_of(problem));
}

TEST_F(ArchiveTest, ADescriptionByAnotherPyTorchIsAnother) {
  auto archive = open();
  const auto found = archive.find_problem(sample_problem().source_hash, "9.9.9");
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found->has_value());
}

TEST_F(ArchiveTest, ASecondDescriptionReplacesTheFirst) {
  auto archive = open();
  auto problem = sample_problem();
  problem.notes = {"another note"};
  ASSERT_TRUE(archive.put_problem(problem).ok());
  EXPECT_EQ((*archive.find_problem(problem.source_hash, problem.torch_version))->notes, problem.notes);
}

TEST_F(ArchiveTest, ProblemsCanBePutAgainWhenEvaluationsReferToThem) {
  auto archive = open();
  ASSERT_TRUE(archive.put_evaluation(sample_evaluation()).ok());
  EXPECT_TRUE(archive.put_problem(sample_problem()).ok());
  EXPECT_TRUE(archive.put_machine(sample_machine()).ok());
  EXPECT_EQ(archive.list()->size(), 1U);
}

TEST_F(ArchiveTest, GivesAMachineBackWithItsNewestMeasurements) {
  auto archive = open();
  auto machine = sample_machine();
  machine.peaks[0].gflops = 260;
  ASSERT_TRUE(archive.put_machine(machine).ok());
  const auto found = archive.find_machine(machine.id);
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ(json_of(**found), json_of(machine));
  EXPECT_FALSE(archive.find_machine("another")->has_value());
}

TEST_F(ArchiveTest, GivesAnEvaluationBackAsItWasAfterOpeningAgain) {
  using namespace std::string_literals;
  auto evaluation = sample_evaluation("// nul \0 byte, \xff no UTF-8, 'quotes'; -- \xc3\xa9\n"s);
  evaluation.timing = sample_timing();
  std::int64_t id = 0;
  {
    auto archive = open();
    auto put = archive.put_evaluation(evaluation);
    ASSERT_TRUE(put.ok()) << put.error().message;
    id = *put;
  }
  auto archive = open();
  auto found = archive.find_evaluation(evaluation.key);
  ASSERT_TRUE(found.ok()) << found.error().message;
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ((*found)->kernel_source, evaluation.kernel_source);
  EXPECT_EQ((*found)->created_at, (*found)->updated_at);
  EXPECT_EQ((*found)->created_at.size(), std::string("2000-01-01T00:00:00.000Z").size());
  EXPECT_EQ((*found)->key.key(), evaluation.key.key());
  evaluation.id = id;
  evaluation.created_at = (*found)->created_at;
  evaluation.updated_at = (*found)->updated_at;
  EXPECT_EQ(json_of(**found), json_of(evaluation));
}

TEST_F(ArchiveTest, KeepsInfinitiesAndNaNOfWrongKernels) {
  auto archive = open();
  auto evaluation = sample_evaluation();
  evaluation.verdict.verdict = Verdict::wrong;
  evaluation.verdict.diagnosis = {"compare", "out is infinite", "out[0]", {"a \xff byte"}, "look", "overflow"};
  auto& error = evaluation.verdict.checks[0].outputs[0];
  error.max_error = std::numeric_limits<double>::infinity();
  error.rms_error = -std::numeric_limits<double>::infinity();
  error.worst_of_tolerance = std::numeric_limits<double>::quiet_NaN();
  ASSERT_TRUE(archive.put_evaluation(evaluation).ok());
  auto found = archive.find_evaluation(evaluation.key);
  ASSERT_TRUE(found.ok()) << found.error().message;
  const auto& read = (*found)->verdict.checks[0].outputs[0];
  EXPECT_EQ(read.max_error, error.max_error);
  EXPECT_EQ(read.rms_error, error.rms_error);
  EXPECT_TRUE(std::isnan(read.worst_of_tolerance));
  EXPECT_EQ(read.rms_error_eager, error.rms_error_eager);
  EXPECT_EQ((*found)->verdict.diagnosis.evidence[0], "a \xef\xbf\xbd byte");
  EXPECT_EQ((*found)->verdict.verdict, Verdict::wrong);
}

TEST_F(ArchiveTest, FindsTheNewestOfAKeyAndKeepsTheOlder) {
  auto archive = open();
  auto evaluation = sample_evaluation();
  const auto first = archive.put_evaluation(evaluation);
  evaluation.verdict.notes = {"again"};
  const auto second = archive.put_evaluation(evaluation);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ((*archive.find_evaluation(evaluation.key))->id, *second);
  ASSERT_TRUE(archive.get_evaluation(*first)->has_value());
  EXPECT_TRUE((*archive.get_evaluation(*first))->verdict.notes.empty());
}

TEST_F(ArchiveTest, AnotherCompilerIsNotFound) {
  auto archive = open();
  auto evaluation = sample_evaluation();
  ASSERT_TRUE(archive.put_evaluation(evaluation).ok());
  evaluation.key.compiler = "g++ 13.1.0";
  EXPECT_FALSE(archive.find_evaluation(evaluation.key)->has_value());
}

TEST_F(ArchiveTest, AddsATimingLater) {
  auto archive = open();
  const auto evaluation = sample_evaluation();
  const auto id = archive.put_evaluation(evaluation);
  ASSERT_TRUE(id.ok());
  EXPECT_FALSE((*archive.get_evaluation(*id))->timing.has_value());
  ASSERT_TRUE(archive.put_timing(*id, sample_timing(2)).ok());
  const auto found = archive.get_evaluation(*id);
  ASSERT_TRUE((*found)->timing.has_value());
  EXPECT_EQ(json_of(*(*found)->timing), json_of(sample_timing(2)));
  EXPECT_GE((*found)->updated_at, (*found)->created_at);
}

TEST_F(ArchiveTest, ListsNewestFirstByProblemAndUpToALimit) {
  auto archive = open();
  auto other = sample_problem("softmax");
  ASSERT_TRUE(archive.put_problem(other).ok());
  std::vector<std::int64_t> ids;
  for (int i = 0; i < 6; ++i) {
    auto evaluation = sample_evaluation("// " + std::to_string(i));
    if (i % 3 == 0) evaluation.key.problem_hash = other.source_hash;
    if (i == 5) evaluation.timing = sample_timing(2);
    ids.push_back(*archive.put_evaluation(evaluation));
  }
  const auto all = archive.list();
  ASSERT_TRUE(all.ok()) << all.error().message;
  ASSERT_EQ(all->size(), 6U);
  EXPECT_EQ(all->front().id, ids[5]);
  EXPECT_EQ(all->front().key, sample_evaluation("// 5").key.key());
  EXPECT_EQ(all->front().seconds, sample_timing(2).seconds);
  EXPECT_EQ(all->front().speedup, 2.0);
  EXPECT_EQ(all->front().knobs, sample_evaluation().key.knobs);
  EXPECT_EQ(all->front().verdict, Verdict::passed);
  EXPECT_FALSE(all->back().seconds.has_value());
  EXPECT_EQ(all->back().problem_name, "softmax");
  const auto some = archive.list(other.source_hash, 1);
  ASSERT_EQ(some->size(), 1U);
  EXPECT_EQ(some->front().id, ids[3]);
  EXPECT_TRUE(archive.list("no such problem")->empty());
}

TEST_F(ArchiveTest, UsesAWriteAheadLogAndForeignKeysHold) {
  auto archive = open();
  ASSERT_TRUE(archive.put_evaluation(sample_evaluation()).ok());
  const auto database = Database::open(path_);
  ASSERT_TRUE(database.ok());
  auto mode = database->prepare("PRAGMA journal_mode");
  ASSERT_TRUE(*mode->step());
  EXPECT_EQ(mode->text(0), "wal");
  auto broken = database->prepare("PRAGMA foreign_key_check");
  EXPECT_FALSE(*broken->step());
}

TEST_F(ArchiveTest, AValueIsNeverReadAsSql) {
  auto archive = open();
  auto problem = sample_problem("x'); DROP TABLE evaluations; --");
  ASSERT_TRUE(archive.put_problem(problem).ok());
  auto evaluation = sample_evaluation();
  evaluation.key.problem_hash = problem.source_hash;
  evaluation.kernel_file = "'; DELETE FROM evaluations; --";
  ASSERT_TRUE(archive.put_evaluation(evaluation).ok());
  ASSERT_EQ(archive.list()->size(), 1U);
  EXPECT_EQ(archive.list()->front().problem_name, problem.name);
  EXPECT_EQ(archive.list()->front().kernel_file, evaluation.kernel_file);
}

}  // namespace
}  // namespace kw
