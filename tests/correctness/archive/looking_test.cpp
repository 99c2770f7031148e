// Reading for pages: a connection that writes nothing, outlines without sources, and what a watcher sees.
#include <gtest/gtest.h>

#include "correctness/archive/samples.h"

namespace kw {
namespace {

using testing::open_with_samples;
using testing::sample_evaluation;
using testing::sample_machine;
using testing::sample_problem;
using testing::sample_timing;

class LookingTest : public ::testing::Test {
 protected:
  LookingTest() : folder_(std::move(TempFolder::make("kw-looking-test")).value()), file_(folder_.path() / "archive.db") {}

  static RunRecord run_of(Archive& archive) {
    RunRecord run;
    run.problem_hash = sample_problem().source_hash;
    run.torch_version = sample_problem().torch_version;
    run.machine_id = sample_machine().id;
    run.stages = {{"timing", 2.5}};
    return std::move(archive.runs().start(run)).value();
  }
  static Individual individual(std::int64_t index) {
    Individual made;
    made.index = index;
    made.kernel.source = "int source_" + std::to_string(index) + ";";
    made.ratios = {1.5, 1.25};
    made.prompts = {"hash"};
    return made;
  }

  TempFolder folder_;
  fs::path file_;
};

TEST_F(LookingTest, OpenedToReadItMakesAndWritesNothing) {
  EXPECT_FALSE(Archive::open_to_read(file_).ok());
  EXPECT_FALSE(fs::exists(file_));
  { ASSERT_TRUE(open_with_samples(file_).ok()); }
  auto reader = Archive::open_to_read(file_);
  ASSERT_TRUE(reader.ok());
  EXPECT_FALSE(reader->put_machine(sample_machine("another")).ok());
  EXPECT_TRUE(reader->find_machine(sample_machine().id)->has_value());
}

TEST_F(LookingTest, OutlinesHaveAllButTheSource) {
  Archive archive = std::move(open_with_samples(file_)).value();
  const RunRecord run = run_of(archive);
  EXPECT_EQ(run.stages.at("timing"), 2.5);
  const Individual all[] = {individual(0), individual(1), individual(2)};
  ASSERT_TRUE(archive.runs().add(run.id, all, 1).ok());
  const auto outlines = archive.runs().outlines(run.id, 1);
  ASSERT_TRUE(outlines.ok());
  ASSERT_EQ(outlines->size(), 2U);
  EXPECT_EQ((*outlines)[0].index, 1);
  EXPECT_EQ((*outlines)[0].kernel.source, "");
  EXPECT_EQ((*outlines)[0].ratios, (std::vector<double>{1.5, 1.25}));
  EXPECT_EQ((*outlines)[0].prompts, (std::vector<std::string>{"hash"}));
  const auto whole = archive.runs().individual(run.id, 2);
  ASSERT_TRUE(whole.ok() && *whole);
  EXPECT_EQ((*whole)->kernel.source, "int source_2;");
  EXPECT_FALSE(archive.runs().individual(run.id, 3)->has_value());
}

TEST_F(LookingTest, AWatcherSeesWhatAnotherConnectionWrites) {
  Archive writer = std::move(open_with_samples(file_)).value();
  const RunRecord run = run_of(writer);
  Archive reader = std::move(Archive::open_to_read(file_)).value();
  const auto before = reader.runs().data_version();
  const auto states = reader.runs().states();
  ASSERT_TRUE(before.ok() && states.ok());
  ASSERT_EQ(states->size(), 1U);
  EXPECT_EQ((*states)[0].individuals, 0);
  EXPECT_EQ(*reader.runs().data_version(), *before);
  const Individual one[] = {individual(0)};
  ASSERT_TRUE(writer.runs().add(run.id, one, 1).ok());
  EXPECT_NE(*reader.runs().data_version(), *before);
  EXPECT_EQ((*reader.runs().states())[0].individuals, 1);
}

TEST_F(LookingTest, TheLedgerOfOneRunIsWhatItAdded) {
  Archive archive = std::move(open_with_samples(file_)).value();
  RunRecord first = run_of(archive), second = run_of(archive);
  LedgerEntry entry;
  entry.strategy = "fuse_chain";
  const LedgerEntry entries[] = {entry};
  ASSERT_TRUE(archive.runs().finish(first, entries, {}).ok());
  EXPECT_EQ(archive.runs().ledger_of(first.id)->size(), 1U);
  EXPECT_TRUE(archive.runs().ledger_of(second.id)->empty());
}

TEST_F(LookingTest, FindsTheTimingOfAKernelWithItsKnobs) {
  Archive archive = std::move(open_with_samples(file_)).value();
  Evaluation evaluation = sample_evaluation();
  ASSERT_TRUE(archive.put_evaluation(evaluation).ok());
  const auto& key = evaluation.key;
  EXPECT_FALSE(archive.find_measured(key.problem_hash, key.kernel_hash, key.knobs)->has_value()) << "it was not timed";
  evaluation.timing = sample_timing();
  ASSERT_TRUE(archive.put_evaluation(evaluation).ok());
  EXPECT_TRUE(archive.find_measured(key.problem_hash, key.kernel_hash, key.knobs)->has_value());
  EXPECT_FALSE(archive.find_measured(key.problem_hash, key.kernel_hash, {{"KW_TILE", "1"}})->has_value());
}

TEST_F(LookingTest, AnEstimateIsFoundWhereNothingWasTimed) {
  Archive archive = std::move(open_with_samples(file_)).value();
  const Evaluation evaluation = sample_evaluation();
  const auto id = archive.put_evaluation(evaluation);
  ASSERT_TRUE(id.ok());
  EstimateRecord estimate;
  estimate.gpu = "a100";
  ASSERT_TRUE(archive.put_estimate(*id, estimate).ok());
  const auto found = archive.find_measured(evaluation.key.problem_hash, evaluation.key.kernel_hash, evaluation.key.knobs);
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->estimate->gpu, "a100");
}

TEST_F(LookingTest, ARunIsUnderWayWhileItsLockIsHeld) {
  EXPECT_FALSE(is_under_way(folder_.path(), "7"));
  {
    const auto lock = RunLock::acquire(folder_.path(), "7");
    ASSERT_TRUE(lock.ok());
    EXPECT_TRUE(is_under_way(folder_.path(), "7"));
    EXPECT_FALSE(is_under_way(folder_.path(), "8"));
  }
  EXPECT_FALSE(is_under_way(folder_.path(), "7"));
}

}  // namespace
}  // namespace kw
